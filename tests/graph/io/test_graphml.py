"""GraphML files, compared with networkx."""

from __future__ import annotations

import io

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from static_graph import CsrGraph, read, write
from static_graph.errors import FileError
from static_graph.io import inputs

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEY = '<key id="k" for="edge" attr.name="weight" attr.type="double"/>\n'


def parsed(text, **more):
    content = text if isinstance(text, bytes) else text.encode()
    return read(io.BytesIO(content), format="graphml", **more)


def edges_of(graph):
    names = range(graph.nodes) if graph.labels is None else graph.labels.tolist()
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    ends = zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True)
    return sorted((names[a], names[b], w) for a, b, w in ends)


def named(graph):
    """The edges of a graph by names that are strings."""
    return sorted((str(a), str(b), weight) for a, b, weight in edges_of(graph))


def test_mixed_edges_nested_data_and_foreign_elements(caplog):
    graph = parsed(
        f"""<?xml version="1.0"?>
        <!DOCTYPE graphml SYSTEM "http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd">
        {HEAD}<key id="colour" for="node" attr.name="weight" attr.type="string"><default>red</default></key>
        <key id="w" for="edge" attr.name="weight" attr.type="int"/>
        <desc>of <b xmlns="other">everything</b></desc>
        <graph edgedefault="undirected" id="G">
          <node id="a"><data key="colour">1</data><port name="x"><data key="w">9</data></port></node>
          <edge source="a" target="b"><data key="w"> 4 </data></edge>
          <node id="b"/><node xmlns="other" id="no"/>
          <edge source="b" target="c" directed="true"><desc>d</desc><data key="w">5</data></edge>
          <edge source="c" target="c"><data key="other">7</data></edge>
          <node id="c"/>
        </graph></graphml>"""
    )
    assert graph.labels.tolist() == ["a", "b", "c"]
    assert edges_of(graph) == [("a", "b", 4), ("b", "a", 4), ("b", "c", 5), ("c", "c", 1)]
    assert graph.weights.dtype == np.int32
    assert caplog.text == ""


def test_named_weights_and_defaults(caplog):
    text = f"""{HEAD}<key id="d" for="edge" attr.name="length" attr.type="float"><default>2.5</default></key>
    <key id="s" for="edge" attr.name="weight" attr.type="string"/>
    <graph edgedefault="directed"><node id="0"/><node id="1"/>
    <edge source="0" target="1"/><edge source="1" target="0"><data key="d">7</data><data key="s">x</data></edge>
    </graph></graphml>"""
    graph = parsed(text, weight="length")
    assert graph.labels is None and edges_of(graph) == [(0, 1, 2.5), (1, 0, 7.0)]
    assert parsed(text).weights is None
    assert "the attribute weight is of the type string; the graph has no weights" in caplog.text
    with pytest.raises(FileError, match=r":5: the attribute 'weight' is of the type 'string', not a number"):
        parsed("\n\n" + text, weight="weight")
    with pytest.raises(FileError, match="its edges have no attribute 'cost'; their attributes: 'length', 'weight'"):
        parsed(text, weight="cost")


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (["0", "1", "2"], None),
        (["5", "-1", "0"], [5, -1, 0]),
        (["1", "2", "03"], ["1", "2", "03"]),
        (["n0", "n1", "n2"], ["n0", "n1", "n2"]),
        (["1", "2", "9" * 30], ["1", "2", "9" * 30]),
        (["1", "2", str(2**63)], ["1", "2", str(2**63)]),
        (["1", str(2**63 - 1), str(-(2**63))], [1, 2**63 - 1, -(2**63)]),
        (["&lt;a&#10;&quot;", "ö", "x y"], ['<a\n"', "ö", "x y"]),
    ],
)
def test_ids_are_labels(ids, labels, tmp_path):
    nodes = "".join(f'<node id="{name}"/>' for name in ids)
    graph = parsed(f'{HEAD}<graph edgedefault="directed">{nodes}</graph></graphml>')
    assert graph.nodes == 3
    assert (None if graph.labels is None else graph.labels.tolist()) == labels
    again = read(write(tmp_path / "a.graphml", graph))
    assert (None if again.labels is None else again.labels.tolist()) == labels


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_files_of_networkx_and_back(tmp_path, data):
    kind = data.draw(st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]))
    wanted = kind()
    name = st.one_of(st.integers(-3, 12), st.text(st.characters(min_codepoint=32, codec="utf-8"), max_size=3))
    wanted.add_nodes_from(data.draw(st.lists(name, unique_by=str, max_size=7)))
    names = list(wanted)
    numbers = st.one_of(st.integers(0, 2**62), st.floats(0, 1e300))
    for a, b in data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)))) if names else []:
        weight = data.draw(st.none() | numbers)
        wanted.add_edge(a, b, **({} if weight is None else {"weight": weight, "other": "text"}))
    inputs_piece, inputs.READ_BYTES = inputs.READ_BYTES, 64
    try:
        networkx.write_graphml(wanted, tmp_path / "a.graphml")
        found = read(tmp_path / "a.graphml")
    finally:
        inputs.READ_BYTES = inputs_piece
    expected = CsrGraph.from_networkx(networkx.relabel_nodes(wanted, str))
    assert named(found) == named(expected)
    back = networkx.read_graphml(write(tmp_path / "b.graphml", found), force_multigraph=True)
    assert list(map(str, back)) == list(map(str, wanted))
    again = sorted((a, b, d.get("weight")) for a, b, d in back.edges(data=True))
    assert again == named(found)


def test_a_graph_is_read_back_unchanged(tmp_path):
    for weights in (None, [3, 0, 2**40], [0.1, 5e-324, 1e308]):
        for labels in (None, [7, -5, 0, 9], ["b", "a\t<", "", "é"]):
            graph = CsrGraph.from_edges([0, 2, 2], [2, 0, 2], weights, 4, labels=labels)
            again = read(write(tmp_path / "a.graphml", graph))
            for name in ("offsets", "targets", "weights", "labels"):
                assert np.array_equal(getattr(again, name), getattr(graph, name)), name
                assert getattr(getattr(again, name), "dtype", None) == getattr(getattr(graph, name), "dtype", None)


GRAPH = '<graph edgedefault="directed">\n'


def fault(text):
    """The error of a text that cannot be parsed."""
    with pytest.raises(FileError) as raised:
        parsed(text)
    return raised.value


REFUSED = [  # texts, each with the line that is wrong
    ("", None), (" \n", None), ("<graphml>\n</graph>", 2), ("<graphml>\n", 2), ("plain text", 1), ("<html/>", 1),
    ("<graph/>", 1), (f"{HEAD}</graphml>", None), (f"{HEAD}<node id='1'/></graphml>", 2), (f"{HEAD}<graph>", 2),
    (f"{HEAD}<graph edgedefault='both'>", 2), (f"{HEAD}{GRAPH}<node/>", 3),
    (f"{HEAD}{GRAPH}<node id='a'/>\n<node id='a'/>", 4), (f"{HEAD}{GRAPH}<edge source='a'/>", 3),
    (f"{HEAD}{GRAPH}<edge source='a' target='a' directed='yes'/>", 3),
    (f"{HEAD}{GRAPH}<node id='a'/>\n<edge source='a'\n target='b'/></graph></graphml>", 4),
    (f"{HEAD}{GRAPH}<hyperedge/>", 3), (f"{HEAD}{GRAPH}<node id='a'>{GRAPH}", 3),
    (f"{HEAD}{GRAPH}</graph>\n{GRAPH}", 4), (f"{HEAD}{GRAPH}</graph>\n{KEY}", 4),
    (f"<!DOCTYPE graphml [\n<!ENTITY a 'b'>]>{HEAD}", 2), ("<?xml version='1.0' encoding='utf-7'?><graphml/>", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_wrong_files_are_refused_with_the_line(text, line):
    assert fault(text).line == line


SENTENCES = [
    ("<graphml>\n</graph>", "is not well-formed XML: mismatched tag"),
    (f"{HEAD}{GRAPH}<node id='a'/>\n<node id='a'/>", "there are two nodes 'a'"),
    (f"{HEAD}{GRAPH}<edge source='a'/>", "<edge> has no target"),
    (f"<!DOCTYPE graphml [\n<!ENTITY a 'b'>]>{HEAD}", "declares the entity 'a': a graph needs none"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), SENTENCES)
def test_sentences_about_files_say_what_is_wrong(text, words):
    assert words in fault(text).reason


WRONG_WEIGHTS = {
    "double": ["", "1_0", "NaN", "-0.5"],
    "float": ["1e999"],
    "int": ["1.5", "-1"],
    "long": [str(2**63), "9" * 5000],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in WRONG_WEIGHTS.items() for text in texts])
def test_wrong_weights_are_refused_with_the_line(kind, text):
    key = f'<key id="k" attr.name="weight" attr.type="{kind}"/>'
    edge = f"<node id='0'/><edge source='0' target='0'>\n<data key='k'>{text}</data></edge>"
    wrong = fault(f"{HEAD}{key}{GRAPH}{edge}</graph></graphml>")
    assert wrong.line == 4 and wrong.reason.startswith("weight ")


def test_a_billion_laughs_and_external_files_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("root")
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">\n' for k in range(1, 10))
    for declared in (f'<!ENTITY l0 "ha">{laughs}', f'<!ENTITY l9 SYSTEM "{secret.as_uri()}">', '<!ENTITY % l9 "x">'):
        with pytest.raises(FileError, match="declares the entity"):
            parsed(f"<!DOCTYPE graphml [{declared}]>{HEAD}{GRAPH}<node id='&l9;'/></graph></graphml>")


def test_labels_that_xml_cannot_hold_are_refused(tmp_path):
    for labels, words in ((["a\x01", "b"], "has a character that XML cannot hold"), ([(0, 0), (0, 1)], "are objects")):
        with pytest.raises(FileError, match=words):
            write(tmp_path / "a.graphml", CsrGraph.from_edges([0], [1], labels=labels))


def test_memory_is_checked_while_a_file_is_read(monkeypatch):
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: 2**20)
    monkeypatch.setattr("dmr.common.available.WORTH_ASKING", 0)
    edges = "<edge source='0' target='0'/>" * 20_000
    with pytest.raises(MemoryError, match=r"and 1\.0 MiB are free"):
        parsed(f"{HEAD}{GRAPH}<node id='0'/>{edges}</graph></graphml>")
