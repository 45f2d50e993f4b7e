"""Retract: the user withdraws a constraint, in its author's words.

Effect on the ledger: relax. From then on it binds no more, and to refuse because of it is a phantom constraint.

Evidence: the user said "stop the i18n work", and "resume Active Task exactly" wins (NousResearch/hermes-agent#26290);
the agent refuses the relaxation that the user has just granted (justrach/codegraff#738).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import binding_at
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("retract", effect="relax", seldom=True)
def retract(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """The retraction, between the statement and the last turn that is guarded."""
    retractions = [
        Insert(
            operator="retract",
            anchor=anchor,
            name=f"retract.{constraint.id}",
            lifts=(constraint.id,),
            user=constraint.wordings.retraction,
        )
        for constraint, anchor in binding_at(scenario, guarded)
        if constraint.wordings.retraction
    ]
    return any_of(retractions, "no constraint that a turn states has wordings.retraction")
