"""Searches from end to end: real runs, with models that are functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from interp import Case, ConfigurationError, ScriptedModel, ValidationError, load_run
from interp.evaluation import Arm, Budget, Improvement, Metric, Question, RubricJudge, improve
from interp.evaluation.improving import search_by_front, search_with_gepa
from interp.evaluation.improving.searching import Look, Looks, Sets, digest_of
from interp.machine import Request

PROGRAM = '[desk:Agent {instruction: "Answer.", model: "My/model"}]  // kept\n'
# Three of them are for search, two for choosing, and eight decide: the fewest that can show a gain.
CASES = [Case(name=f"c{n}", input=f"say {n}", expected=f"SAY {n}") for n in range(25, 38)]
RULE = "Use capitals."
TOKENS = {"prompt_tokens": 6, "completion_tokens": 4}


class Obedient:
    """Answers in capitals where its instruction says so, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.most: int | None = None

    def complete(self, request: Request) -> str:
        """What was said, in capitals or not."""
        if self.asked == self.most:
            raise KeyboardInterrupt
        self.asked += 1
        text = request.messages[-1].content
        return text.upper() if RULE in request.instruction else text


def saying(*texts: Any) -> Callable[[Question], Any]:
    """A proposer that says these texts in turn."""
    turns = cycle(texts)
    return lambda question: {"desk.instruction": next(turns)}


def searched(folder: Path, proposer: Any, **more: Any) -> Improvement:
    """A search for a better instruction."""
    file = folder / "desk.gram"
    if not file.exists():
        file.write_text(PROGRAM)
    given: dict[str, Any] = {
        "base": Arm(model=Obedient()),
        "out": folder / "search",
        "looks": folder / "looks.gram",
        "seed": 1,
        "progress": False,
        "proposer": proposer,
        "tries": 3,
    }
    return improve(file, "desk.instruction", more.pop("cases", CASES), **given | more)


@pytest.mark.parametrize("search", [search_by_front, search_with_gepa])
def test_a_change_that_helps_is_found_shown_and_written(tmp_path: Path, search: Any) -> None:
    found = searched(tmp_path, saying("Be brief.", f"Answer. {RULE}", "Be kind."), search=search)

    assert found.verdict == "better"
    assert found.sentence.startswith("better: +100.0 points (95 %: ")
    assert found.comparison
    assert (found.comparison.better, found.comparison.worse) == (found.comparison.cases, 0)
    how, before, after = next(found.differing)
    assert how == "won"
    assert load_run(str(before.run)).state.context[-1].content == before.case.input
    assert after.content == after.case.expected
    assert found.apply() == (tmp_path / "desk.gram",)
    assert (tmp_path / "desk.gram").read_text() == PROGRAM.replace("Answer.", f"Answer. {RULE}")


def test_changes_that_do_nothing_are_not_shown_to_be_better(tmp_path: Path) -> None:
    found = searched(tmp_path, saying("Be brief.", "Be kind."))

    assert found.verdict == "not shown to be better"
    assert "no candidate did better" in found.sentence
    assert not (tmp_path / "looks.gram").exists()
    with pytest.raises(ConfigurationError, match="only what is better is written"):
        found.apply()
    assert (tmp_path / "desk.gram").read_text() == PROGRAM


def test_a_search_that_is_stopped_goes_on_and_runs_nothing_twice(tmp_path: Path) -> None:
    whole, model = Obedient(), Obedient()
    texts = ("Be brief.", RULE, "Be kind.")
    (tmp_path / "whole").mkdir()
    wanted = searched(tmp_path / "whole", saying(*texts), base=Arm(model=whole))

    proposer = saying(*texts)
    for model.most in (1, 4, 7, whole.asked - 10):  # in each of its parts
        with pytest.raises(KeyboardInterrupt):
            searched(tmp_path, proposer, base=Arm(model=model))
    model.most = None
    found = searched(tmp_path, proposer, base=Arm(model=model))

    assert (found.sentence, found.spent.runs) == (wanted.sentence, wanted.spent.runs)
    assert model.asked <= whole.asked + 4 * 4  # runs that were under way
    asked = model.asked
    assert searched(tmp_path, proposer, base=Arm(model=model)).sentence == found.sentence
    assert model.asked == asked
    assert (tmp_path / "looks.gram").read_text().count("(:Look") == 1


def test_a_last_set_decides_in_five_searches_and_no_sixth(tmp_path: Path) -> None:
    looks = Looks(tmp_path / "looks.gram")
    for number in range(4):
        looks.take(Look(f"s{number}", tuple(map(digest_of, Sets.of(CASES).last)), "desk.gram"))
    found = searched(tmp_path, saying(RULE), tries=1)
    assert (found.verdict, found.look) == ("better", 5)

    model = Obedient()
    with pytest.raises(ValidationError, match=r"decided 5 times(.|\n)*add new cases"):
        searched(tmp_path, saying(RULE), out=tmp_path / "6", base=Arm(model=model))
    assert model.asked == 0
    assert not (tmp_path / "6").exists()


def test_where_nothing_could_be_shown_nothing_starts(tmp_path: Path) -> None:
    model = Obedient()

    with pytest.raises(ValidationError, match="7 of 11 cases are in the last set, and count as 7"):
        searched(tmp_path, saying(RULE), base=Arm(model=model), cases=CASES[:11])
    assert model.asked == 0

    (tmp_path / "desk.gram").write_text(PROGRAM.replace("Answer.", RULE))
    found = searched(tmp_path, saying("Be brief."))
    assert "could not be shown to be better; add harder cases" in found.sentence
    assert found.proposed == 0


def test_proposals_that_are_no_candidates_are_refused_in_words(tmp_path: Path) -> None:
    answers: list[tuple[Any, str]] = [
        ("Be brief", "no JSON object"),
        ({"desk.model": "A/b"}, "may not change"),
        ({"desk.instruction": ""}, "instruction"),
        ({"desk.instruction": "Answer."}, "nothing is changed"),
        ({"desk.instruction": "x" * 3000}, "2000 are the most"),
        ({"desk.instruction": "Say one two three four."}, "whole answer that case long expects"),
        ({"desk.instruction": None}, "desk.instruction: expected a text, got None"),
        ({"desk.temperature": {1, 2}}, "set is not a JSON value"),
    ]
    told: list[tuple[str, ...]] = []

    def propose(question: Question) -> Any:
        told.append(question.refused)
        return answers[len(told) - 1][0]

    cases = [*CASES, Case(name="long", input="count", expected="one two three four")]
    found = searched(tmp_path, propose, tries=len(answers), cases=cases)

    assert len(found.refused) == len(answers)
    for (_, said), refused in zip(answers, found.refused, strict=True):
        assert said in refused
    assert told[-1] == found.refused[2:7], "the last five"


def test_a_model_proposes_from_runs_that_failed(tmp_path: Path) -> None:
    thought = "<think>One of {desk}?</think>"
    proposer = ScriptedModel([f'{thought} Here: {{"desk.instruction": "{RULE}"}}'])

    assert searched(tmp_path, proposer, tries=1).verdict == "better"
    asked = proposer.requests[0].messages[-1].content
    for part in ("[desk:Agent", 'path: "desk.instruction"', "(:Failing", '{content: "say '):
        assert part in asked
    assert "expected: " in asked
    assert "characters together" in asked


def test_the_program_s_own_model_proposes_by_default(tmp_path: Path) -> None:
    class Both(Obedient):
        def complete(self, request: Request) -> str:
            if request.agent == "proposer":
                return json.dumps({"desk.instruction": RULE})
            return super().complete(request)

    assert searched(tmp_path, None, tries=1, base=Arm(model=Both())).verdict == "better"
    with pytest.raises(ConfigurationError, match="proposes nothing"):
        searched(tmp_path, None, base=Arm(model="Offline/rehearsal"), out=None)


def test_an_agent_of_a_file_proposes(tmp_path: Path) -> None:
    file = tmp_path / "p.gram"
    file.write_text('[p:Agent {instruction: "Propose.", model: "Offline/rehearsal"}]')
    found = searched(tmp_path, file, tries=1)
    assert found.refused == ("the answer is no JSON object from paths to texts",)


def test_an_imported_agent_is_made_better_by_a_judge_of_rubrics(tmp_path: Path) -> None:
    class Strict:
        def complete(self, request: Request) -> str:
            is_right = "SAY" in request.messages[-1].content
            return json.dumps({"score": is_right, "reason": "capitals are wanted"})

    (tmp_path / "desk.gram").write_text('{imports: ["parts.gram"]}\n[w:Workflow | (desk)-->()]\n')
    (tmp_path / "parts.gram").write_text(PROGRAM)
    asked: list[Question] = []

    def propose(question: Question) -> dict[str, str]:
        asked.append(question)
        return {"desk.instruction": RULE}

    cases = [Case(name=f"c{n}", input=f"say {n}", judge=["It shouts."]) for n in range(25, 38)]
    found = searched(tmp_path, propose, tries=1, cases=cases, judge=RubricJudge(model=Strict()))

    assert found.verdict == "better", found.sentence
    assert PROGRAM in asked[0].program
    assert "capitals are wanted" in asked[0].failing[0].problem
    assert found.apply() == (tmp_path / "parts.gram",)


def test_a_budget_keeps_what_the_last_set_needs(tmp_path: Path) -> None:
    told: list[str] = []
    model = Obedient()

    with pytest.raises(ValidationError, match="10 runs are too few"):
        searched(tmp_path, saying(RULE), budget=Budget(runs=10))
    most, proposer = Budget(runs=75), saying("a", "b", RULE)
    found = searched(tmp_path, proposer, base=Arm(model=model), budget=most, tell=told.append)
    assert model.asked == found.spent.runs <= 75
    assert "the budget: 75 runs" in told
    assert any("look 1 of 5" in each for each in told)
    assert any("shown in 80 %: a gain of" in each for each in told)
    with pytest.raises(ConfigurationError, match="name a path"):
        improve(tmp_path / "desk.gram", [], CASES)
    found = searched(tmp_path, saying(RULE), budget=Budget(tokens=5), out=tmp_path / "x")
    assert "the tokens of a run is not known" in found.sentence


def test_a_budget_ends_amid_a_search_that_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    class Counted(Obedient):
        def complete(self, request: Request) -> Any:  # tells its tokens, too
            said = {"message": {"role": "assistant", "content": super().complete(request)}}
            return {"model": "x", "choices": [said], "usage": {"total_tokens": 10, **TOKENS}}

    for most in (20, 150, 180):
        model = Counted()
        given: dict[str, Any] = {"base": Arm(model=model), "budget": Budget(tokens=most)}
        found = searched(tmp_path, saying(RULE), jobs=1, **given)
        assert "the budget does not reach the last test" in found.sentence
        assert (found.spent.tokens or 0) <= most
        assert not (tmp_path / "looks.gram").exists()

    found = searched(tmp_path, saying(RULE), base=Arm(model=model), budget=Budget(tokens=5000))
    assert (found.verdict, found.spent.tokens) == ("better", 10 * found.spent.runs)
    assert model.asked < found.spent.runs


def test_what_cannot_be_kept_or_measured_ends_a_search_early(tmp_path: Path) -> None:
    model = Obedient()
    with pytest.raises(OSError, match="No such directory"):
        searched(tmp_path, saying(RULE), looks=tmp_path / "no" / "x.gram", base=Arm(model=model))
    assert model.asked == 0

    found = searched(tmp_path, saying(RULE), metric=lambda run: 1 / 0, out=tmp_path / "x")
    assert "no run of the program has a score; " in found.sentence
    assert found.proposed == 0
    found = searched(tmp_path, saying(RULE), base=Arm(model=ScriptedModel([])), out=tmp_path / "y")
    assert "no run of the program has a score; " in found.sentence


def test_another_search_in_the_folder_and_an_edited_folder_are_refused(tmp_path: Path) -> None:
    searched(tmp_path, saying("a"), tries=1)

    corrected = [evolve(CASES[0], expected="SAY nothing"), *CASES[1:]]
    cooler = Arm(model=Obedient(), settings={"temperature": 0.1})
    for other in (
        {"cases": [*CASES, Case(name="more", input="more")]},
        {"cases": corrected},
        {"base": cooler},
    ):
        with pytest.raises(ValidationError, match="another search is in this folder"):
            searched(tmp_path, saying("a"), tries=1, **other)

    file = tmp_path / "search" / "search.gram"
    head = file.read_text().splitlines()[0]
    for text, said in {
        "": "no search is in it",
        f"{head}\n(:Proposal {{parent: 0, texts: json`[1]`}})\n": (
            "this is no whole Proposal: 'texts' must be"
        ),
    }.items():
        file.write_text(text)
        with pytest.raises(ValidationError, match=said):
            searched(tmp_path, saying("a"), tries=1)


def test_numbers_where_less_is_better_are_compared_too(tmp_path: Path) -> None:
    def letters(run: Any) -> float:
        return sum(map(str.islower, run.content))

    def propose(question: Question) -> Any:
        question.texts["desk.instruction"] = RULE  # type: ignore[index]  # as people write it
        return question.texts

    found = searched(tmp_path, propose, metric=Metric("letters", letters, "lower"), tries=1)

    assert (found.verdict, found.comparison and found.comparison.difference) == ("better", -3.0)
