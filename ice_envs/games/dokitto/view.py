def to_view(state, seat):
    return {}


def from_view(view):
    return None
