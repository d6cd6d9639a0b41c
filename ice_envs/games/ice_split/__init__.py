"""Ice Split: every card is a goal or a flavor of one's display. 2 to 4 seats."""

from ice_envs.engine.game import Game, Rules, SearchHints, register_rules
from ice_envs.games import VERSIONS
from ice_envs.games.ice_split import rules
from ice_envs.games.ice_split.deck import NUM_CARDS, deck_hash, reconstruction
from ice_envs.games.ice_split.determinize import determinize
from ice_envs.games.ice_split.greedy import greedy
from ice_envs.games.ice_split.observation import LAYOUT, observe
from ice_envs.games.ice_split.schema import VIEW_FIELDS
from ice_envs.games.ice_split.text import to_text
from ice_envs.games.ice_split.view import from_view, to_view

CARDS = range(NUM_CARDS)

GAME = register_rules(
    Game(
        name="ice_split",
        version=VERSIONS["ice_split"],
        title="Ice Split",
        title_ja="アイス・スプリット",
        table_sizes=(2, 3, 4),
        options_type=rules.IceSplitOptions,
        dtype=rules.DTYPE,
        layout=LAYOUT,
        labels=(
            *(f"start with card {card}" for card in CARDS),
            *(f"play card {card} as a goal" for card in CARDS),
            *(f"play card {card} as a flavor" for card in CARDS),
            *(f"take card {card} from the market" for card in CARDS),
            "draw from the deck",
        ),
        labels_ja=(
            *(f"カード{card}で始める" for card in CARDS),
            *(f"カード{card}を目標として出す" for card in CARDS),
            *(f"カード{card}をフレーバーとして出す" for card in CARDS),
            *(f"場のカード{card}を取る" for card in CARDS),
            "山札から引く",
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
        search=SearchHints(careless=0.3, routine=0.7, greedy_moves=40, spread=5.0),
        notes=(
            "The published list of the 63 cards could not be found: the default deck is a reconstruction "
            f"({deck_hash(reconstruction()):016x}). Owners of the game can pass the real cards with the option deck.",
        ),
        data_field="deck_hash",
    )
)
