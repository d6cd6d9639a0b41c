from typing import Any
def to_text(state: Any, seat: int | None) -> str:
    return ""
