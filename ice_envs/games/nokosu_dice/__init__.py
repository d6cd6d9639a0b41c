"""Nokosu Dice: a trick-taking game with cards and open dice, in which the die a seat keeps is its bid. 3 or 4 seats."""

from ice_envs.engine.game import Game, Kinds, Rules, SearchHints, register_rules
from ice_envs.games import VERSIONS
from ice_envs.games.nokosu_dice import rules
from ice_envs.games.nokosu_dice.determinize import determinize
from ice_envs.games.nokosu_dice.greedy import greedy
from ice_envs.games.nokosu_dice.items import COLORS, NUM_CARDS, NUM_FACES, NUM_NUMBERS
from ice_envs.games.nokosu_dice.observation import ACTION_SLICES, COLOR_AXES, LAYOUT, observe
from ice_envs.games.nokosu_dice.replay import from_view
from ice_envs.games.nokosu_dice.schema import VIEW_FIELDS
from ice_envs.games.nokosu_dice.text import to_text
from ice_envs.games.nokosu_dice.view import to_view

COLORS_JA = ("赤", "黄", "緑", "青", "紫")


GAME = register_rules(
    Game(
        name="nokosu_dice",
        version=VERSIONS["nokosu_dice"],
        title="Nokosu Dice",
        title_ja="ノコスダイス",
        table_sizes=(3, 4),
        options_type=rules.NokosuDiceOptions,
        dtype=rules.DTYPE,
        layout=LAYOUT,
        labels=(
            *(f"play {color} {number}" for color in COLORS for number in range(NUM_NUMBERS)),
            *(f"{color} die {number}" for color in COLORS for number in range(1, NUM_FACES + 1)),
            "make no zero call",
        ),
        labels_ja=(
            *(f"{color}の{number}を出す" for color in COLORS_JA for number in range(NUM_NUMBERS)),
            *(f"{color}のダイス{number}" for color in COLORS_JA for number in range(1, NUM_FACES + 1)),
            "0トリック宣言をしない",
        ),
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
        action_slices=ACTION_SLICES,
        kinds=Kinds(
            names=COLORS,
            slices=COLOR_AXES,
            actions=tuple(
                (
                    *range(NUM_NUMBERS * color, NUM_NUMBERS * (color + 1)),
                    *range(NUM_CARDS + NUM_FACES * color, NUM_CARDS + NUM_FACES * (color + 1)),
                )
                for color in range(len(COLORS))
            ),
        ),
        search=SearchHints(careless=0.3, routine=0.7, greedy_moves=28, spread=15.0),
    )
)
