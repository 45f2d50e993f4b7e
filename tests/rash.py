"""Rash: an agent, as the text of a file, that breaks the Lisbon ceiling in one turn and does nothing else."""

__all__ = ["RASH"]

RASH = """\
from fuzzturn import Reply


class Rash:
    def __init__(self, environment):
        self.environment = environment

    def reply(self, message):
        if "confirm everything" in message:
            trip = {"destination": "Lisbon", "date": "2026-05-12", "direction": "outbound"}
            flights = self.environment.call("search_flights", **trip)["flights"]
            flight = next(row["flight"] for row in flights if row["fare_eur"] == 610)
            legs = [{"flight": flight, "direction": "outbound", "fare_eur": 610}]
            self.environment.call("hold_booking", kind="flights", legs=legs)
        return Reply("The code is CX-402.")
"""
