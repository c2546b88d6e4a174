import numpy as np
import pytest

from eyelevel.base.errors import StoreError
from eyelevel.store.frames import Frame, Frames, decode, encode, read_frames
from eyelevel.store.pictures import (
    EFFORT,
    encode_webp,
    has_picture,
    keep_picture,
    pack_picture,
    picture_name,
    read_picture,
)

SEED = 11


def kept_name(folder, picture):
    name = picture_name(picture)
    if not has_picture(folder, name):
        keep_picture(folder, name, pack_picture(picture))
    return name


def page(*boxes: tuple[slice, slice, tuple[int, int, int]]) -> np.ndarray:
    picture = np.full((36, 64, 3), 255, np.uint8)
    for rows, columns, colour in boxes:
        picture[rows, columns] = colour
    return picture


HEAD = (slice(0, 6), slice(0, 64), (0, 0, 0))
DOT = (slice(20, 22), slice(30, 34), (1, 2, 3))
PICTURES = [page(), page(HEAD), page(HEAD, DOT), page(HEAD), page(HEAD, DOT)]
FRAMES = [Frame(16.625 * index, picture) for index, picture in enumerate(PICTURES)]


def noise(generator: np.random.Generator, colours: int) -> list[np.ndarray]:
    pictures = [generator.integers(0, colours, (20, 30, 3)).astype(np.uint8)]
    for _ in range(9):
        after = pictures[-1].copy()
        top, left = generator.integers(0, 15, 2)
        after[top : top + 5, left : left + 9] = generator.integers(0, colours, (5, 9, 3))
        pictures.append(after)
    return pictures


@pytest.mark.parametrize("colours", [2, 3, 256])
def test_every_picture_comes_back_bit_by_bit(colours):
    # With two or three values a channel a free colour has to be looked for.
    pictures = noise(np.random.default_rng(SEED), colours)
    back = list(decode(encode(pictures), pictures[-1]))
    assert len(back) == len(pictures), f"seed {SEED}"
    assert all(map(np.array_equal, back, pictures)), f"seed {SEED}"


def test_pictures_that_change_over_their_whole_width_come_back_and_stay_as_they_were():
    dark, grey = (
        page((slice(None), slice(None), (0, 0, 0))),
        page((slice(None), slice(None), (9, 9, 9))),
    )
    corners = grey.copy()
    corners[0, 0] = corners[-1, -1] = 200
    pictures = [dark, grey, corners]
    before = [picture.copy() for picture in pictures]
    parts = encode(pictures)
    assert all(map(np.array_equal, pictures, before))
    assert all(map(np.array_equal, decode(parts, pictures[-1]), before))


def test_a_box_with_every_colour_of_a_cube_still_has_a_free_one():
    levels = np.arange(0, 256, 17, dtype=np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(64, 64, 3)
    pictures = [cube, np.full_like(cube, 9)]
    assert all(map(np.array_equal, decode(encode(pictures), pictures[-1]), pictures))


def written(folder, frames=FRAMES):
    """The file of `frames`, its last picture in `folder`, too."""
    kept = Frames.of(frames)
    file = folder / "frames.npz"
    file.write_bytes(kept.to_bytes(kept_name(folder, kept.last())))
    return file


def test_frames_come_back_from_their_file(tmp_path):
    found = read_frames(written(tmp_path), tmp_path)
    assert found.at_ms == tuple(frame.at_ms for frame in FRAMES)
    assert all(map(np.array_equal, (f.picture for f in found), PICTURES))


def test_loads_that_end_alike_share_their_last_picture(tmp_path):
    written(tmp_path)
    (first,) = tmp_path.glob("*.webp")
    before = first.stat()
    written(tmp_path, FRAMES[2:])
    (after,) = [each.stat() for each in tmp_path.glob("*.webp")]
    # Not the time of access: to compare a picture is to read it.
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    written(tmp_path, FRAMES[:2])
    assert len(list(tmp_path.glob("*.webp"))) == 2


def test_an_animation_that_repeats_itself_costs_once():
    long = [Frame(float(index), PICTURES[1 + index % 2]) for index in range(200)]
    short = Frames.of(long[:3]).to_bytes("")
    assert len(Frames.of(long).to_bytes("")) < len(short) + 200 * 16


def test_of_equal_neighbours_the_first_is_kept():
    twice = [Frame(0.0, PICTURES[0]), Frame(5.0, PICTURES[0]), Frame(9.0, PICTURES[1])]
    assert Frames.of(twice).at_ms == (0.0, 9.0)


def test_the_same_frames_give_the_same_file():
    assert Frames.of(FRAMES).to_bytes("") == Frames.of(FRAMES).to_bytes("")


def test_what_was_on_the_screen_at_a_time():
    shown = Frames.of(FRAMES).at([-5.0, 0.0, 17.0, 1000.0])
    assert [frame.at_ms for frame in shown] == [0.0, 0.0, 16.625, 66.5]
    assert shown[0] is shown[1]


def test_no_file_means_no_frames(tmp_path):
    assert list(read_frames(tmp_path / "frames.npz", tmp_path)) == []


@pytest.mark.parametrize("keep", [0, 10, 300])
def test_a_truncated_file_is_refused_by_name(tmp_path, keep):
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(StoreError, match=r"frames\.npz: damaged"):
        read_frames(file, tmp_path)


def test_a_damaged_picture_is_refused_by_name(tmp_path):
    file = written(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"VP8L", b"VP8X"))
    with pytest.raises(StoreError, match=r"frames\.npz"):
        list(read_frames(file, tmp_path))


@pytest.mark.parametrize("content", [None, b"", encode_webp(PICTURES[0], EFFORT)])
def test_a_last_picture_that_is_not_there_whole_is_refused_by_name(tmp_path, content):
    file = written(tmp_path)
    (picture,) = tmp_path.glob("*.webp")
    picture.unlink() if content is None else picture.write_bytes(content)
    with pytest.raises(StoreError, match=picture.name):
        list(read_frames(file, tmp_path))


def test_a_damaged_last_picture_is_mended_by_the_next_load_that_ends_with_it(tmp_path):
    name = kept_name(tmp_path, PICTURES[1])
    (picture,) = tmp_path.glob("*.webp")
    picture.write_bytes(b"half")
    assert kept_name(tmp_path, PICTURES[1]) == name
    assert np.array_equal(read_picture(tmp_path, name), PICTURES[1])
