"""What stands in for the parts of a shell that show something: apart, because learners' code can find it."""


def nothing(*arguments: object, **options: object) -> None:
    """Show nothing."""


def no_formats(*arguments: object, **options: object) -> tuple[dict, dict]:
    """An object has no form to be shown in: not even a slow, or hostile, one."""
    return {}, {}
