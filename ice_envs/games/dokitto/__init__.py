"""Dokitto! Ice: a trick-taking game in which high or low wins and the fourth tile busts. 2 to 5 seats."""

from ice_envs.engine.game import Game, Kinds, Rules, SearchHints, register_rules
from ice_envs.games import VERSIONS
from ice_envs.games.dokitto import rules
from ice_envs.games.dokitto.determinize import determinize
from ice_envs.games.dokitto.greedy import greedy
from ice_envs.games.dokitto.observation import FLAVOR_AXES, LAYOUT, observe
from ice_envs.games.dokitto.schema import VIEW_FIELDS
from ice_envs.games.dokitto.text import to_text
from ice_envs.games.dokitto.view import from_view, to_view

FLAVORS_JA = ("いちご", "チョコ", "抹茶", "ぶどう", "バニラ")

GAME = register_rules(
    Game(
        name="dokitto",
        version=VERSIONS["dokitto"],
        title="Dokitto! Ice",
        title_ja="ドキッと！アイス",
        table_sizes=(2, 3, 4, 5),
        options_type=rules.DokittoOptions,
        dtype=rules.DTYPE,
        layout=LAYOUT,
        labels=tuple(f"play {flavor} {number}" for flavor in rules.FLAVORS for number in range(1, 14))
        + tuple(f"take a {flavor} tile" for flavor in rules.FLAVORS),
        labels_ja=tuple(f"{flavor}の{number}を出す" for flavor in FLAVORS_JA for number in range(1, 14))
        + tuple(f"{flavor}のアイスを取る" for flavor in FLAVORS_JA),
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
        action_slices=("hand", "takes_trick", "higher_unseen", "lower_unseen"),
        kinds=Kinds(
            names=rules.FLAVORS,
            slices=FLAVOR_AXES,
            actions=tuple(
                (*range(rules.NUM_NUMBERS * flavor, rules.NUM_NUMBERS * (flavor + 1)), rules.NUM_CARDS + flavor)
                for flavor in range(rules.NUM_FLAVORS)
            ),
        ),
        search=SearchHints(careless=0.5, routine=0.5, greedy_moves=8, spread=3.0),
    )
)
