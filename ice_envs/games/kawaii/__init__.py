"""Kawaii: a slapping game in real time, told in ticks. 2 to 5 seats."""

from ice_envs.engine.game import Game, Rules, Simultaneous, register_rules
from ice_envs.games.kawaii import rules
from ice_envs.games.kawaii.determinize import determinize
from ice_envs.games.kawaii.greedy import greedy
from ice_envs.games.kawaii.observation import LAYOUT, observe
from ice_envs.games.kawaii.text import to_text
from ice_envs.games.kawaii.view import from_view, to_view
from ice_envs.games.kawaii.window import asked_together

_OWNERS = ("own", "left 1", "left 2", "left 3", "left 4")
_OWNERS_JA = ("自分", "左1", "左2", "左3", "左4")


def _label(action: int) -> str:
    owners = [name for place, name in enumerate(_OWNERS) if action >> place & 1]
    if len(owners) < 2:
        return f"take {owners[0]} pile" if owners else "let it pass"
    return f"take {', '.join(owners[:-1])} and {owners[-1]} piles"


def _label_ja(action: int) -> str:
    owners = [name for place, name in enumerate(_OWNERS_JA) if action >> place & 1]
    return f"{'と'.join(owners)}の山を取る" if owners else "見送る"


GAME = register_rules(
    Game(
        name="kawaii",
        version=0,
        title="Kawaii",
        title_ja="カワイイ",
        table_sizes=(2, 3, 4, 5),
        options_type=rules.KawaiiOptions,
        dtype=rules.DTYPE,
        layout=LAYOUT,
        labels=tuple(map(_label, range(rules.NUM_ACTIONS))),
        labels_ja=tuple(map(_label_ja, range(rules.NUM_ACTIONS))),
        rules=Rules(
            start=rules.start,
            legal=rules.legal,
            is_legal=rules.is_legal,
            apply=rules.apply,
            observe=observe,
            score=rules.score,
            win_share=rules.win_share,
            determinize=determinize,
            greedy=greedy,
        ),
        configure=rules.configure,
        to_view=to_view,
        from_view=from_view,
        to_text=to_text,
        score_range=rules.score_range,
        longest_game=rules.longest_game,
        simultaneous=Simultaneous(asked_together, idle=0),
    )
)
