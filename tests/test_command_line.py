"""The shared command line: where settings come from, and one sentence for each kind of bad input. And whole files."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from ice_envs import find_game
from ice_envs.errors import IceError
from ice_envs.files import check_writable, read_json, replacing, write_json
from training import command_line


@dataclass(frozen=True)
class Network:
    """The network."""

    widths: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers."""

    def __post_init__(self):
        if not self.widths:
            raise IceError("a network needs a layer")


@dataclass(frozen=True)
class Settings:
    """What to do."""

    env: str = "dokitto"
    """The game."""
    num_players: list[int | Literal["all"]] = field(default_factory=lambda: ["all"])
    """Table sizes."""
    opponents: list[str] = field(default_factory=lambda: ["random"])
    """Names of the opponents."""
    steps: int | None = None
    """How many decisions."""
    rate: float = 1e-3
    """The learning rate."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute."""
    out: Path | None = None
    """The run's folder."""
    options: dict[str, Any] = field(default_factory=dict)
    """Rule options."""
    shares: dict[str, float] = field(default_factory=dict)
    """Parts by name."""
    network: Network = field(default_factory=Network)
    """The network's shape."""


@dataclass(frozen=True)
class Export:
    """A setting without default."""

    run: Path
    """The run's folder."""


def read(*words, **how):
    return command_line.read_settings(Settings, "training.example", words, **how)


def run(capsys, main, *words, settings_type=Settings, **how):
    with pytest.raises(SystemExit) as stop:
        command_line.run(main, settings_type, "training.example", arguments=words, **how)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_without_words_the_defaults_hold():
    assert read() == Settings()


def test_flags_set_every_kind_of_field(tmp_path):
    words = "--num_players 2 3 --opponents greedy 7 a/b.json --steps 10 --rate 1e-2 --device cpu --network.widths 64 32"
    found = read(*words.split(), "--out", str(tmp_path), "--options.target_score", "5", "--options.next_leader=lowest")
    assert found == Settings(
        num_players=[2, 3],
        opponents=["greedy", "7", "a/b.json"],
        steps=10,
        rate=1e-2,
        device="cpu",
        out=tmp_path,
        options={"target_score": 5, "next_leader": "lowest"},
        network=Network((64, 32)),
    )
    lists = read("--options.handicaps", "[[4, 0], [0, 2]]", "--options.memory", "true").options
    assert lists == {"handicaps": [[4, 0], [0, 2]], "memory": True}
    assert read("--num_players=[4,5]", "--steps=3") == Settings(num_players=[4, 5], steps=3)


def test_flags_win_over_config_files_wherever_they_stand_and_later_files_over_earlier(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("steps: 1\nrate: 0.5\nnetwork: {widths: [8]}\nnum_players: [2, 3]\n")
    second.write_text("rate: 0.25\n")
    expected = Settings(steps=7, rate=0.25, network=Network((8,)), num_players=[2, 3])
    files = ("--config", str(first), f"--config={second}")
    assert read("--steps", "7", *files) == read(*files, "--steps", "7") == expected


def test_a_game_brings_its_own_defaults(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "CONFIGS", tmp_path)
    (tmp_path / "dokitto.yaml").write_text("steps: 5\nrate: 0.5\n")
    config = tmp_path / "mine.yaml"
    config.write_text("env: dokitto\nrate: 0.25\n")
    assert read("--env", "dokitto", game_defaults=True) == Settings(steps=5, rate=0.5)
    assert read("--config", str(config), game_defaults=True) == Settings(steps=5, rate=0.25)
    assert read("--config", str(config), "--steps", "9", game_defaults=True) == Settings(steps=9, rate=0.25)
    with pytest.raises(IceError, match=r"unknown game 'dokito' \(did you mean 'dokitto'\?\)"):
        read("--env", "dokito", game_defaults=True)
    (tmp_path / "dokitto.yaml").write_text("stps: 5\n")
    with pytest.raises(IceError, match=r"dokitto.yaml has an unknown key 'stps' \(did you mean 'steps'\?\)"):
        read(game_defaults=True)
    (tmp_path / "dokitto.yaml").unlink()
    with pytest.raises(IceError, match="defaults is missing"):
        read(game_defaults=True)


def test_help_names_every_setting_with_its_text(capsys):
    code, out, _ = run(capsys, lambda settings: None, "--help")
    text = " ".join(out.split())
    assert code == 0
    assert "python -m training.example" in text
    assert "one sentence for each kind of bad input" in text  # the module's docstring
    for words in ("--env", "The game.", "--network.widths", "Widths of the hidden layers.", "{auto,cpu,cuda}", "0.001"):
        assert words in text


def test_settings_without_default_can_be_given_by_place(capsys):
    found = []
    assert run(capsys, found.append, "runs/1", settings_type=Export, positional=True)[0] == 0
    assert run(capsys, found.append, "--run", "runs/2", settings_type=Export)[0] == 0
    assert found == [Export(Path("runs/1")), Export(Path("runs/2"))]
    code, _, err = run(capsys, found.append, settings_type=Export, positional=True)
    assert (code, "run" in err, err.count("\n")) == (2, True, 1)


def test_settings_may_be_revised_by_the_words_of_the_command_line(capsys):
    found = []

    def revise(settings, words):
        found.append((settings, words))
        return Settings(steps=4)

    run(capsys, found.append, "--steps", "3", revise=revise)
    assert found == [(Settings(steps=3), ("--steps", "3")), Settings(steps=4)]


def test_the_exit_code_is_the_commands(capsys):
    assert run(capsys, lambda settings: None)[0] == 0
    assert run(capsys, lambda settings: 130)[0] == 130


def test_an_ice_error_of_the_command_is_one_sentence_and_other_errors_are_not_hidden(capsys):
    def refuse(settings):
        raise IceError("the run is finished")

    def fail(settings):
        raise KeyError("a mistake of ours")

    assert run(capsys, refuse) == (2, "", "the run is finished\n")
    with pytest.raises(KeyError):
        command_line.run(fail, Settings, "training.example", arguments=[])


CONFIG_FILES = {
    "typo.yaml": "stesp: 3",
    "deep.yaml": "network: {width: [2]}",
    "broken.yaml": "a: [",
    "list.yaml": "- 1",
    "empty.yaml": "",
    "value.yaml": "steps: many",
}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--stesp 3", "unknown flag --stesp (did you mean '--steps'?)"),
        ("--step 3", "unknown flag --step (did you mean '--steps'?)"),
        ("--network.width 3", "unknown flag --network.width (did you mean '--network.widths'?)"),
        ("--steps many", "steps must be a whole number or null, not 'many'"),
        ("--steps 1e6", "steps must be a whole number or null, not '1e6'"),
        ("--steps", "argument --steps: expected one argument"),
        ("--rate fast", "rate must be a number, not 'fast'"),
        ("--device cdua", "device must be one of auto, cpu, cuda, not 'cdua' (did you mean 'cuda'?)"),
        ("--num_players 2 every", "num_players must be a list, each a whole number or one of all, not 'every'"),
        ("--network.widths", "argument --network.widths: expected one argument"),
        ("--options 5", "options must be named values, not '5'"),
        ("--shares.greedy many", "shares must be named values, each a number, not"),
        ("--opponents", "argument --opponents: expected one argument"),
        ("stray", "unrecognized arguments: stray"),
        ("--config", "argument --config: expected one argument"),
        ("--config nowhere.yaml", "cannot read the config file nowhere.yaml: No such file or directory"),
        ("--config typo.yaml", "the config file typo.yaml has an unknown key 'stesp' (did you mean 'steps'?)"),
        ("--config deep.yaml", "deep.yaml has an unknown key 'network.width' (did you mean 'network.widths'?)"),
        ("--config broken.yaml", "the config file broken.yaml is not YAML: while parsing"),
        ("--config list.yaml", "the config file list.yaml must hold lines of the form 'name: value'"),
        ("--config empty.yaml", "the config file empty.yaml must hold lines of the form 'name: value'"),
        ("--config value.yaml", "steps must be a whole number or null, not 'many'"),
        ("--network.widths=[]", "a network needs a layer"),
    ],
)
def test_bad_input_is_answered_with_one_sentence(capsys, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    for name, content in CONFIG_FILES.items():
        Path(name).write_text(content)
    code, out, err = run(capsys, print, *words.split())
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_table_sizes():
    game = find_game("dokitto")
    assert command_line.choose_table_sizes(game, ["all"]) == (2, 3, 4, 5)
    assert command_line.choose_table_sizes(game, [4, 2]) == (4, 2)
    for wrong in (6, "all"):
        with pytest.raises(IceError, match=f"2 to 5 seats, not {wrong!r}"):
            command_line.choose_table_sizes(game, [2, wrong])


# versions


def test_versions_name_packages_and_commit():
    found = command_line.versions()
    assert {"python", "ice_envs", "numpy", "numba", "torch", "stable_baselines3", "commit", "dirty"} <= found.keys()
    json.dumps(found)


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=folder, check=True, capture_output=True
    )


def test_versions_tell_a_clean_tree_from_a_changed_one_and_ignore_foreign_repositories(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    monkeypatch.setattr(command_line, "_versions", command_line._versions.__wrapped__)  # asked once in a process
    assert command_line.versions()["commit"] is None
    git(tmp_path, "init")
    (tmp_path / "other").write_text("1")
    git(tmp_path, "add", "other")
    git(tmp_path, "commit", "-m", "x")
    assert command_line.versions()["commit"] is None  # no pyproject.toml of ours is tracked there
    (tmp_path / "pyproject.toml").write_text("1")
    git(tmp_path, "add", "pyproject.toml")
    git(tmp_path, "commit", "-m", "y")
    found = command_line.versions()
    assert (len(found["commit"]), found["dirty"]) == (40, False)
    (tmp_path / "pyproject.toml").write_text("2")
    assert command_line.versions()["dirty"] is True


# files


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    target = tmp_path / "model.zip"
    with replacing(target) as partial:
        partial.write_text("old")
        assert (partial.suffix, partial.parent, target.exists()) == (".zip", tmp_path, False)
    with pytest.raises(AttributeError), replacing(target) as partial:
        partial.write_text("new, but only ha").fails_here()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    target = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(IceError, match=r"cannot write .*a\.txt: No such file"), replacing(target) as partial:
        partial.write_text("")
    with pytest.raises(IceError, match="there is no folder"):
        check_writable(target)
    with pytest.raises(IceError, match="is a folder"):
        check_writable(tmp_path)
    check_writable(tmp_path / "a.txt")


def test_json_comes_back_with_its_lists_of_numbers_on_one_line(tmp_path):
    value = {"numbers": [1, -2.5, 1e-9], "rows": [[1, 2], [3]], "text": ["a [\n 1\n ] b"], "empty": [], "日本": None}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value
    assert '"numbers": [1, -2.5, 1e-09]' in (tmp_path / "a.json").read_text()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_json_refuses_numbers_that_are_not_finite_and_keeps_the_old_file(tmp_path, value):
    write_json(tmp_path / "a.json", 1)
    with pytest.raises(IceError, match=r"a\.json is not written: it would hold a number that is not finite"):
        write_json(tmp_path / "a.json", [{"x": value}])
    assert read_json(tmp_path / "a.json") == 1
