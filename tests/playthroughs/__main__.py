"""Write all playthroughs anew: `python -m tests.playthroughs`; review the difference before you commit it."""

from tests.playthroughs import path, settings, transcript

for name, num_players in settings():
    path(name, num_players).write_text(transcript(name, num_players), encoding="utf-8", newline="\n")
    print(path(name, num_players))
