"""Facts: the general knowledge that the simulated agent answers side questions from."""

from __future__ import annotations

import re

__all__ = ["fact_about"]

# One sentence a topic. None carries a figure that could pass for a fare or a limit.
_FACTS: tuple[tuple[str, str], ...] = (
    (r"\blounges?\b", "The lounge is behind security, next to the central square."),
    (r"\bpark(?:ing)?\b|\bcar\b", "Long-stay parking is a short shuttle ride from the terminal."),
    (r"\bwi-?fi\b|\binternet\b", "Wi-fi is free throughout the airport."),
    (r"\bluggage\b|\bbaggage\b|\bbags?\b|\bsuitcases?\b", "One cabin bag is included in every fare."),
    (r"\bmetro\b|\btrams?\b|\bbus(?:es)?\b|\btrain\b", "The metro goes from the airport to the centre."),
    (r"\bplugs?\b|\bsockets?\b|\badapters?\b", "Sockets there take the usual two-pin plug."),
    (r"\bbreakfast\b", "Breakfast is served in the hotel from seven."),
    (r"\bweather\b|\brain\w*\b|\bumbrella\b|\bwarm\b|\bjacket\b", "It is mostly mild there in spring, with some rain."),
    (r"\bcheck-?in\b|\bboarding pass\b", "Online check-in opens the day before departure."),
    (r"\btips?\b|\btipping\b", "Tips are welcome there but not expected."),
)


def fact_about(question: str) -> str | None:
    """A sentence that answers the question, or None where nothing is known."""
    return next((said for topic, said in _FACTS if re.search(topic, question, re.IGNORECASE)), None)
