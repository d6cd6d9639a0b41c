"""Kawaii: a slapping game in real time, told in ticks. 2 to 5 seats."""

from ice_envs.engine.game import Game, Handicap, Rules, SearchHints, Simultaneous, register_rules
from ice_envs.engine.playouts import ALL_MOVES
from ice_envs.games import VERSIONS
from ice_envs.games.kawaii import rules
from ice_envs.games.kawaii.determinize import determinize
from ice_envs.games.kawaii.greedy import greedy
from ice_envs.games.kawaii.observation import LAYOUT, observe
from ice_envs.games.kawaii.schema import VIEW_FIELDS
from ice_envs.games.kawaii.text import to_text
from ice_envs.games.kawaii.view import from_view, to_view
from ice_envs.games.kawaii.window import asked_together

_STEPS = ("one", "two", "three", "four")
_OWNERS_JA = ("自分", "左隣", "2つ左", "3つ左", "4つ左")


def _label(action: int) -> str:
    steps = [word for place, word in enumerate(_STEPS, start=1) if action >> place & 1]
    taken = ["your own pile"] if action & 1 else []
    if len(steps) == 1:
        taken.append(f"the pile {steps[0]} {'seat' if steps == ['one'] else 'seats'} to the left")
    elif steps:
        taken.append(f"the piles {', '.join(steps[:-1])} and {steps[-1]} seats to the left")
    return f"take {' and '.join(taken)}" if taken else "let it pass"


def _label_ja(action: int) -> str:
    owners = [name for place, name in enumerate(_OWNERS_JA) if action >> place & 1]
    return f"{'と'.join(owners)}の山を取る" if owners else "見送る"


GAME = register_rules(
    Game(
        name="kawaii",
        version=VERSIONS["kawaii"],
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
        view_fields=VIEW_FIELDS,
        to_text=to_text,
        score_range=rules.score_range,
        longest_game=rules.longest_game,
        search=SearchHints(greedy_moves=ALL_MOVES, spread=5.0, doubt=4.0),
        simultaneous=Simultaneous(asked_together, idle=0),
        handicap=Handicap("handicaps", none=(0, 0), most=(3, 3), meaning="ticks added to the agent's reaction"),
    )
)
