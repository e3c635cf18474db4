"""A class on a hub: a teacher hands out, three learners answer in their browsers, the teacher grades and gives back."""

import csv
import importlib.util
import os
import re
import shutil
import time

import nbformat
import pytest

REQUIRED = bool(os.environ.get("MINIGRAD_REQUIRE_HUB"))
MISSING = [name for name in ("jupyterhub", "nbgrader", "playwright") if importlib.util.find_spec(name) is None]
MISSING += [name for name in ("configurable-http-proxy", "bwrap") if shutil.which(name) is None]

if MISSING:
    if REQUIRED:
        raise ModuleNotFoundError(f"MINIGRAD_REQUIRE_HUB is set and these are not installed: {', '.join(MISSING)}")
    pytest.skip(f"not installed: {', '.join(MISSING)}", allow_module_level=True)

import hub
import lab as jupyter
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.browser

CHAPTER = "01_requires_grad"
NOTEBOOK = f"{CHAPTER}/{CHAPTER}.ipynb"
SOLUTION = jupyter.ROOT / "solutions" / f"{CHAPTER}.ipynb"
# The commands that the README names for a teacher, as it has them.
TYPED = re.findall(r"^(nbgrader \w+.*?) +#", (jupyter.ROOT / "README.md").read_text("utf-8"), re.M)
GENERATE, RELEASE, COLLECT, AUTOGRADE, FEEDBACK, RELEASE_FEEDBACK, EXPORT = TYPED
RIGHT = {cell.id: cell.source for cell in nbformat.read(SOLUTION, 4).cells if cell.id.startswith("answer-")}
WRONG = {
    "answer-tracked": "def tracked(values):\n    return mg.tensor(values, dtype=mg.float32)",
    "answer-slope": "def slope(f, x):\n    return 6.0",
}
# No answers, but points for all: by other checks, by other cells, and in the teacher's gradebook.
HOSTILE = {
    "answer-tracked": """
import os, sqlite3
for name in check.chapter.exercises:
    setattr(check, name, lambda *answer: print("right"))
class check:
    tracked = spread = leaves = slope = when = staticmethod(lambda *answer: print("right"))
try:
    book = sqlite3.connect(GRADEBOOK)
    book.execute("update grade set auto_score = 99, manual_score = 99, extra_credit = 99")
    book.commit()
    print("the gradebook was written")
except sqlite3.Error as error:
    print("kept out:", error)
print("variables:", sorted(os.environ))
""",
    "test-spread": "None",
    "test-leaves": "print('right')",
}
# What nbgrader's Validate says: that all is right, or the checks that failed, with their diagnoses.
FOUND = {"ada": ["Success"], "ben": ["ch01.tracked: not-asked", "ch01.slope: f-not-used"]}
ENDS_THE_KERNEL = {"answer-when": "import os\nos._exit(0)"}

OPEN_LIST = "() => jupyterapp.commands.execute('nbgrader:open-assignment-list')"
TO_THE_FRONT = "(path) => jupyterapp.commands.execute('docmanager:open', {path})"
SET = """(sources) => {
    for (const cell of jupyterapp.shell.currentWidget.content.widgets)
        if (cell.model.id in sources) cell.model.sharedModel.setSource(sources[cell.model.id]);
}"""


class Learner:
    """What a learner does in the browser, each time as far as the page shows that it is done."""

    def __init__(self, page):
        self.page, self.lab = page, jupyter.Lab(page, "", "")

    def listed(self, where, button):
        """A button in one of the three lists of nbgrader's tab, which comes to the front."""
        self.page.evaluate(OPEN_LIST)
        return self.page.locator(f"#{where}_assignments_list").get_by_role("button", name=button)

    def fetch(self):
        self.listed("released", "Fetch").click()
        self.page.locator("#fetched_assignments_list").get_by_role("button", name=CHAPTER).click()
        self.page.locator("#fetched_assignments_list").get_by_role("link", name=CHAPTER).click()
        self.page.wait_for_function(jupyter.IS_OPEN, arg=NOTEBOOK)

    def answer(self, sources):
        self.page.evaluate(TO_THE_FRONT, NOTEBOOK)
        self.page.wait_for_function(jupyter.IS_OPEN, arg=NOTEBOOK)
        self.page.evaluate(SET, sources)

    def validate(self):
        """What nbgrader says to the answers, in the dialogue that its button in the notebook opens."""
        self.page.get_by_role("button", name="Validate").first.click()
        dialogue = self.page.locator(".jp-Dialog")
        said = dialogue.inner_text()
        dialogue.get_by_role("button").last.click()
        dialogue.wait_for(state="detached")
        return said

    def submit(self, times=1):
        self.listed("fetched", "Submit").click()
        rows = self.page.locator("#submitted_assignments_list .nested_list_item")
        rows.nth(times - 1).wait_for(state="attached")

    def fetch_feedback(self):
        self.listed("submitted", "Fetch Feedback").click()
        self.page.locator("#submitted_assignments_list").get_by_text("view feedback").wait_for()


class Teacher:
    """What a teacher types in a terminal of the hub."""

    def __init__(self, hub, page):
        self.hub, self.page, self.course = hub, page, hub.home("teacher") / "minigrad"

    def type(self, command, ends_with=0):
        start = time.monotonic()
        said, code = self.hub.type_in_terminal(self.page, "teacher", command)
        print(f"{time.monotonic() - start:3.0f} s  {command}")
        assert code == ends_with, f"{command}\n{said}"
        return said

    def copy_the_source(self):
        folder = self.course / "source" / CHAPTER
        folder.mkdir(parents=True)
        shutil.copy(SOLUTION, folder)

    def what_an_answer_printed(self, learner, id):
        """When it was graded."""
        graded = nbformat.read(self.course / "autograded" / learner / NOTEBOOK, 4)
        (cell,) = (cell for cell in graded.cells if cell.id == id)
        return "".join(output.get("text", "") for output in cell.outputs)

    def grades(self):
        """By learner, the points in the gradebook, and of how many."""
        self.type(EXPORT)
        with (self.hub.home("teacher") / "grades.csv").open(newline="") as file:
            return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}


@pytest.fixture
def browser():
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if jupyter.AS_ROOT else []
        chromium = playwright.chromium.launch(executable_path=jupyter.CHROMIUM, args=options)
        yield chromium
        chromium.close()


def handed_out_and_submitted(teacher, learners):
    """Three answers to one assignment, each as a learner gives it in a browser."""
    teacher.copy_the_source()
    teacher.type(GENERATE)
    teacher.type(RELEASE)
    gradebook = repr(str(teacher.course / "gradebook.db"))
    hostile = {id: source.replace("GRADEBOOK", gradebook) for id, source in HOSTILE.items()}
    for name, sources in (("ada", RIGHT), ("ben", RIGHT | WRONG), ("eve", hostile)):
        learner = learners[name]
        learner.fetch()
        learner.answer(sources)
        if name == "eve":  # nor does she run it: on this hub all accounts are one to the system, unlike on a real one
            learner.lab.save()
        else:
            assert None not in learner.lab.run_all(), "Run All stopped early"
            assert FOUND[name] == re.findall(r"Success|(?<=CheckFailed: )\S+: \S+", learner.validate())
        learner.submit()


def test_a_class_on_a_hub(tmp_path, browser):
    with hub.running(tmp_path) as running:
        pages = running.log_in(browser, ["teacher", "ada", "ben", "eve"])
        teacher = Teacher(running, pages.pop("teacher"))
        learners = {name: Learner(page) for name, page in pages.items()}
        handed_out_and_submitted(teacher, learners)

        teacher.type(COLLECT)
        assert "There is no wall" not in teacher.type(AUTOGRADE)
        grades = teacher.grades()
        print(f"nbgrader: {grades}")
        assert grades == {"ada": (24, 24), "ben": (20, 24), "eve": (0, 24)}
        said = teacher.what_an_answer_printed("eve", "answer-tracked")
        assert "kept out: unable to open database file" in said and "written" not in said
        assert "NBGRADER_EXECUTION" in said and "JUPYTERHUB" not in said, "no token of the teacher's"

        for command in (FEEDBACK, RELEASE_FEEDBACK):
            teacher.type(command)
        learners["ben"].fetch_feedback()
        (page,) = running.home("ben").glob(f"{CHAPTER}/feedback/*/{CHAPTER}.html")
        assert "(Score: 20.0 / 24.0)" in page.read_text("utf-8") and "not-asked" in page.read_text("utf-8")

        # Once more, in an answer that ends the kernel: no points, and nobody else's are touched.
        learners["eve"].answer(RIGHT | ENDS_THE_KERNEL)
        learners["eve"].lab.save()
        learners["eve"].submit(times=2)
        teacher.type(f"{COLLECT} --update")
        assert "Kernel died" in teacher.type(AUTOGRADE, ends_with=1)
        assert teacher.grades() == grades
        judged_by_the_course(teacher)


def judged_by_the_course(teacher):
    """What the course's own grading says of what was collected: whose notebook lost a kernel keeps its other points."""
    teacher.type(f"cd {jupyter.ROOT} && python -m tools.grading {teacher.course / 'submitted'}")
    with (teacher.course / "submitted-grades" / "points.csv").open(newline="") as file:
        points = {row["learner"]: int(row["points"]) for row in csv.DictReader(file)}
    print(f"the course: {points}")
    assert points == {"ada": 24, "ben": 20, "eve": 22}
