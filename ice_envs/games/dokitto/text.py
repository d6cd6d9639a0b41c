def to_text(state, seat):
    return ""
