"""Wordings: statements of each kind of limit beside prices, as different people would say them."""

from __future__ import annotations

__all__ = ["AIRLINE", "NIGHT", "REFUNDABLE", "UNPAID"]

NIGHT = [
    "No flight may leave between 23:00 and 06:00.",
    "Nothing departing between 11 pm and 6 am, please.",
    "Nothing that takes off after 23:00 or before 06:00.",
    "Every flight has to leave between 06:00 and 23:00.",
    "Flights may only depart between 6 am and 11 pm.",
    "No red-eyes.",
    "We don’t fly overnight.",
    "Night flights are out.",
    "Flights by night are not an option.",
    "Never put me on a plane in the middle of the night.",
    "He can't fly at night.",
    "Red-eyes are off limits.",
]
REFUNDABLE = [
    "The hotel room must be refundable.",
    "No non-refundable hotel rate, please.",
    "The room has to come with free cancellation.",
    "We never take a prepaid rate for a hotel.",
    "Refundable rooms only.",
    "Make sure the room can be cancelled for free.",
    "Do not book a room that cannot be cancelled.",
    "Non-refundable rates are not allowed.",
    "No room unless it is refundable.",
]
AIRLINE = [
    "Flights with Aldara are off limits.",
    "Never book Aldara.",
    "Any airline but Aldara will do.",
    "Aldara (AQ) is excluded.",
    "Steer clear of Aldara.",
    "We do not fly with Aldara or Swiss.",
    "Nothing with AQ, please.",
    "Aldara must not be booked.",
    "Aldara is not an option.",
]
UNPAID = [
    "Nothing is to be paid before Jonas has approved it.",
    "No booking may be confirmed without approval from Jonas.",
    "Every payment needs the go-ahead of Jonas first.",
    "Money is only spent once Jonas has signed off.",
    "Until Jonas says yes, do not pay for anything.",
    "For now things are only held, and nothing is confirmed.",
    "Do not confirm anything yet.",
    "At this stage nothing gets paid for.",
    "We are only putting things on hold, never buying.",
    "Please don’t confirm anything until I say so.",
]
