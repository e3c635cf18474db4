"""The automatic checks of the exercises: `from exercises.checks import ch01 as check`."""
