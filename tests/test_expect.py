"""%%expect, and minigrad's warnings, in a real IPython shell, and once in a real kernel."""

import re
import subprocess
import sys
import textwrap
import warnings

import pytest

import minigrad as mg
from minigrad.jupyter import notebook

pytest.importorskip("IPython", reason="IPython is not installed")
from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture
def shown_as_ever():
    """The warnings, each with where it came up, that were left to whoever showed them before."""
    return []


@pytest.fixture
def shell(tmp_path, monkeypatch, shown_as_ever):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    shell.user_ns["mg"] = mg
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr(warnings, "showwarning", lambda *given: shown_as_ever.append(given))
    notebook.register()
    yield shell
    shell.restore_sys_module_state()


@pytest.fixture
def run(shell, capsys):
    """Run a cell; give the text it printed and the error that it failed with, if any."""

    def run(cell):
        result = shell.run_cell(textwrap.dedent(cell).lstrip("\n"), store_history=False)
        return capsys.readouterr().out, result.error_in_exec or result.error_before_exec

    return run


def test_can_print_the_beginning_alone(run):
    cell = """
        %%expect RuntimeError{} --brief
        x = mg.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
        {}
        """
    for text in ("", ' "already been freed"'):  # which is not in the part that is printed
        out, error = run(cell.format(text, "y.backward()"))
        assert (out, error) == ("RuntimeError: Trying to backward through the graph a second time ...\n", None)
    out, error = run(cell.format("", "x.backward()"))
    assert "nothing was raised" in str(error) and "second time" not in out


def test_prints_the_error_and_the_advice_only(run):
    out, error = run("""
        %%expect RuntimeError
        x = mg.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
        y.backward()
        """)
    assert error is None
    first, second = out.splitlines()
    assert first.startswith("RuntimeError: Trying to backward through the graph a second time (or")
    assert first.endswith("after calling backward.")
    assert second.startswith("minigrad: ")


def test_only_the_first_line_of_a_message(run):
    assert run('%%expect ValueError\nraise ValueError("one\\ntwo")') == ("ValueError: one\n", None)
    assert run("%%expect ValueError\nraise ValueError") == ("ValueError\n", None)


def test_the_advice_may_be_in_the_message_too(run):
    out, _ = run('%%expect ValueError\nraise ValueError("one\\nminigrad: do this")')
    assert out == "ValueError: one\nminigrad: do this\n"


def test_what_the_cell_does_before_it_raises_stays(run, shell):
    out, error = run("%%expect ZeroDivisionError\na = 5\nprint('before')\n1 / 0")
    assert (out, error) == ("before\nZeroDivisionError: division by zero\n", None)
    assert shell.user_ns["a"] == 5


def test_names_of_the_notebook_are_seen(run, shell):
    shell.user_ns["zero"] = 0
    assert run("%%expect ZeroDivisionError\n1 / zero")[1] is None


def test_a_subclass_matches(run):
    assert run("%%expect ArithmeticError\n1 / 0")[0] == "ZeroDivisionError: division by zero\n"


def test_one_of_several_classes_matches(run):
    for names in ("TypeError, ZeroDivisionError", "TypeError ZeroDivisionError"):
        assert run(f"%%expect {names}\n1 / 0")[1] is None


def test_a_class_of_a_module_or_of_the_user(run):
    assert run("%%expect mg.autograd.GradcheckError\nraise mg.autograd.GradcheckError('no')")[1] is None
    run("class Mine(Exception): pass")
    assert run("%%expect Mine\nraise Mine('x')") == ("Mine: x\n", None)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_text_that_must_be_in_the_message(run, quote):
    cell = "%%expect ZeroDivisionError {q}{text}{q}\n1 / 0"
    assert run(cell.format(q=quote, text="by zero"))[1] is None
    _, error = run(cell.format(q=quote, text="by one"))
    assert isinstance(error, notebook.Unexpected)
    assert str(error) == (
        'this cell should have raised ZeroDivisionError with "by one" in its message, but line 2 raised '
        "ZeroDivisionError: division by zero"
    )


def test_nothing_raised_fails(run):
    _, error = run("%%expect RuntimeError\n1 + 1")
    assert isinstance(error, notebook.Unexpected)
    assert str(error) == "this cell should have raised RuntimeError, but nothing was raised."


def test_something_else_raised_fails_and_says_where(run):
    _, error = run("%%expect RuntimeError\na = 1\n\na + ''")
    assert isinstance(error, notebook.Unexpected)
    assert str(error).startswith(
        "this cell should have raised RuntimeError, but line 4 raised TypeError: unsupported operand"
    )


def test_a_failure_shows_one_sentence_and_no_traceback(run):
    out, _ = run("%%expect RuntimeError\n1 / 0")
    assert out.strip() == (
        "Unexpected: this cell should have raised RuntimeError, but line 2 raised ZeroDivisionError: division by zero"
    )


def test_a_syntax_error_is_reported(run):
    _, error = run("%%expect RuntimeError\nx = = 2")
    assert "but line 2 raised SyntaxError: invalid syntax" in str(error)
    assert run("%%expect SyntaxError\nx = = 2")[0].startswith("SyntaxError: invalid syntax")


@pytest.mark.parametrize("line", ["", "nothing", "3", '"text"', 'RuntimeError "open', "mg", "int"])
def test_a_line_that_is_not_understood(run, line):
    _, error = run(f"%%expect {line}\n1 / 0")
    assert isinstance(error, notebook.Unexpected) and "is not understood" in str(error)


def test_an_interrupt_passes_through(run):
    _, error = run("%%expect Exception\nraise KeyboardInterrupt")
    assert isinstance(error, KeyboardInterrupt)


def test_the_last_expression_is_displayed(run):
    out, _ = run("%%expect RuntimeError\n40 + 2")
    assert "42" in out


def test_magics_work_in_the_body(run):
    out, _ = run("%%expect ZeroDivisionError\n%precision 3\n1 / 0")
    assert "ZeroDivisionError: division by zero" in out


def test_the_error_does_not_keep_the_graph_alive(run, shell):
    run("""
        %%expect RuntimeError
        import weakref
        def program():
            z = mg.tensor(3.0, requires_grad=True) * 2
            alive.append(weakref.ref(z))
            raise RuntimeError
        alive = []
        program()
        """)
    assert shell.user_ns["alive"][0]() is None


@pytest.mark.filterwarnings("default")
def test_a_warning_of_minigrad_names_no_file(run, shown_as_ever):
    cell = "y = 2 * mg.ones(2, requires_grad=True)\ny.grad\n1 / 0"
    for head in ("", "%%expect ZeroDivisionError\n", "%%expect ZeroDivisionError\n"):  # each time
        first = run(head + cell)[0].split("\n")[0]
        assert re.fullmatch(r"UserWarning: The \.grad attribute .* for more information\.", first)
    assert shown_as_ever == []


@pytest.mark.filterwarnings("default")
def test_a_warning_of_others_is_shown_as_ever(run, shown_as_ever):
    out, _ = run("import warnings\nwarnings.warn('mine')")
    ((message, category, _, line, *_),) = shown_as_ever
    assert (out, str(message), category, line) == ("", "mine", UserWarning, 2)


def test_a_warning_for_a_file_goes_there(shell, shown_as_ever):
    warnings.showwarning("mine", UserWarning, "here.py", 3, sys.stderr)
    assert shown_as_ever == [("mine", UserWarning, "here.py", 3, sys.stderr, None)]


def test_a_recorded_warning_is_not_shown(run, shell, shown_as_ever):
    out, _ = run("""
        import warnings
        y = mg.ones(1, requires_grad=True).exp()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            none = y.grad
        """)
    assert (out, shown_as_ever, len(shell.user_ns["heard"])) == ("", [], 1)


def test_without_ipython_nothing_is_registered(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    notebook.register()
    code = "from minigrad.jupyter import notebook; notebook.register(); import sys; print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_in_a_kernel():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = ["import minigrad as mg", "%%expect RuntimeError\nmg.ones(2, requires_grad=True).sum()"]
    cells += ["%%expect RuntimeError\nmg.ones(2, requires_grad=True).backward()"]
    cells += ["(2 * mg.ones(2, requires_grad=True)).grad"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, allow_errors=True, timeout=60, kernel_name="python3").execute()
    displayed, failed = book.cells[1].outputs
    assert displayed["data"]["text/plain"] == "tensor(2., grad_fn=<SumBackward0>)"
    assert failed["output_type"] == "error" and failed["ename"] == "Unexpected"
    assert failed["traceback"] == ["Unexpected: this cell should have raised RuntimeError, but nothing was raised."]
    for cell, beginning in zip(
        book.cells[2:],
        (
            "RuntimeError: grad can be implicitly created only for scalar outputs\nminigrad: ",
            "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being",
        ),
        strict=True,
    ):
        (output,) = cell.outputs
        assert output["name"] == "stdout" and output["text"].startswith(beginning)


def test_explain_names_the_lines_of_the_cell(run):
    out, error = run("""
        %%explain
        w = mg.tensor(3.0, requires_grad=True)
        h = w * 2
        loss = h * h
        h += 1
        loss.backward()
        """)
    assert error is None and "`h` was saved by line 4, `loss = h * h`" in out
    assert "It was overwritten by line 5, `h += 1`" in out and "repair: Write `h = h + 1` there" in out


def test_explain_runs_a_cell_that_fails_otherwise_or_not_at_all_as_ever(run):
    out, error = run("%%explain\nx = mg.ones(2)\nx + 1")
    assert error is None and "tensor([2., 2.])" in out
    out, error = run("%%explain\n1 / 0")
    assert isinstance(error, ZeroDivisionError) and "notebook.py" not in out
    out, error = run("%%explain RuntimeError\n1")
    assert "write `%%explain` alone" in str(error)


def test_the_extension_can_be_loaded(run):
    assert run("%load_ext minigrad") == ("", None)


def test_explain_watches_what_the_cell_itself_imports():
    program = (
        "from IPython.core.interactiveshell import InteractiveShell; import IPython\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('%load_ext minigrad')\n"
        "shell.run_cell('%%explain\\nimport minigrad as mg\\nw = mg.tensor(3.0, requires_grad=True)\\nw += 1')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "It is about `w`, made by line 3" in done.stdout, done.stdout + done.stderr
