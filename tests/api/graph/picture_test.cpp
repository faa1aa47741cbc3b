// Graphs as pictures.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "api/graph/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GraphPictureTest : public GraphTest {};

TEST_F(GraphPictureTest, NodesAndEdgesAreThere) {
  GraphDefinition graph;
  const KernelNode first = graph.launch({.grid = {4, 2}, .block = 32, .shmem_size = 2048}, kernel("shape"), data);
  const MemsetNode second = first.memset<int>(data, 0xff, 2, 3, 16);
  second.memcpy(data, data, 128).callback([] {});
  graph.empty();
  EXPECT_THAT(graph.to_dot(),
              AllOf(HasSubstr("digraph"), HasSubstr("label=\"shape\\n4 x 2 blocks of 32 threads\\n2 KiB shared\""),
                    HasSubstr("label=\"fill\\n3 rows of 8 bytes with 0xff\""), HasSubstr("label=\"copy\\n128 bytes\""),
                    HasSubstr("label=\"callback\", shape=ellipse"), HasSubstr("shape=point"), HasSubstr("n0 -> n1;"),
                    Not(HasSubstr("color=red"))));
}

TEST_F(GraphPictureTest, CapturedKernelsHaveTheirNames) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  launch(builder, one, kernel("add"), data, 1);
  launch(builder.stream(), one, kernel("shape"), data);
  EXPECT_THAT(builder.end_building().graph_definition().to_dot(),
              AllOf(HasSubstr("label=\"add\\n1 block of 1 thread\""), HasSubstr("label=\"shape\\n1 block")));
}

TEST_F(GraphPictureTest, TheSameGraphGivesTheSameText) {
  const auto build = [&] {
    GraphDefinition graph;
    add(add(graph, 1), 2);
    return graph;
  };
  EXPECT_EQ(build().to_dot(), build().to_dot());
  EXPECT_NE(build().to_dot({.handles = true}), build().to_dot());
}

TEST_F(GraphPictureTest, EveryKindOfNodeHasALabel) {
  const Event event = device.create_event();
  GraphDefinition graph;
  const AllocNode allocated = graph.allocate(1 << 20);
  allocated.memcpy(data, allocated.dptr(), CopyExtent{.width = 8, .height = 2, .depth = 2}).deallocate(allocated);
  graph.record(event).wait(event);
  EXPECT_THAT(graph.to_dot(), AllOf(HasSubstr("allocate\\n1 MiB"), HasSubstr("copy\\n2 x 2 rows of 8 bytes"),
                                    HasSubstr("\"free\""), HasSubstr("record event"), HasSubstr("wait for event")));
  EXPECT_THAT(graph.to_dot({.handles = true}), HasSubstr("to 0x"));
}

TEST_F(GraphPictureTest, GraphsInNodesAreFrames) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  (void)graph.embed(child);
  const IfElseNode branch = graph.if_else(graph.create_condition(0));
  add(branch.then(), 1);
  const WhileNode loop = graph.while_loop(graph.create_condition(0));
  add(loop.body(), 1);
  (void)graph.switch_(graph.create_condition(0), 2);
  const std::string text = graph.to_dot();
  EXPECT_THAT(text, AllOf(HasSubstr("cluster_0"), HasSubstr("label=\"then\""), HasSubstr("label=\"else\""),
                          HasSubstr("label=\"body\""), HasSubstr("label=\"case 1\""), HasSubstr("lhead=cluster_0"),
                          HasSubstr("label=\"if\", shape=diamond"), HasSubstr("label=\"switch\"")));
}

TEST_F(GraphPictureTest, TheLongestWayIsMarked) {
  GraphDefinition graph;
  const KernelNode start = add(graph, 1);
  const KernelNode quick = add(start, 1, 1);
  const KernelNode slow = add(start, 1, 2);
  const EmptyNode end = graph.join(quick, slow);
  const std::string text = graph.to_dot({.milliseconds = {{start, 1}, {quick, 2}, {slow, 5.5}}});
  EXPECT_THAT(text, AllOf(HasSubstr("5.5 ms\", shape=box, color=red"), HasSubstr("1 ms\", shape=box, color=red"),
                          HasSubstr("2 ms\", shape=box]"), HasSubstr("n0 -> n2 [color=red"), HasSubstr("n0 -> n1;")));
  (void)end;
}

TEST_F(GraphPictureTest, TitlesAreEscaped) {
  EXPECT_THAT(GraphDefinition().to_dot({.title = "the \"best\"\ngraph"}),
              HasSubstr("label=\"the \\\"best\\\"\\ngraph\""));
}

TEST_F(GraphPictureTest, GraphvizDrawsIt) {
  GraphDefinition graph;
  add(add(graph, 1), 2);
  const std::string path = ::testing::TempDir() + "graph_picture_test.svg";
  try {
    graph.save_svg(path, {.title = "two"});
  } catch (const NotSupported& error) {
    EXPECT_THAT(error.what(), HasSubstr("Graphviz"));
    EXPECT_FALSE(std::filesystem::exists(path + ".dot"));
    GTEST_SKIP() << error.what();
  }
  std::ifstream file(path);
  EXPECT_THAT(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()),
              AllOf(HasSubstr("<svg"), HasSubstr("add"), HasSubstr("two")));
  EXPECT_FALSE(std::filesystem::exists(path + ".dot"));
  std::filesystem::remove(path);
  EXPECT_THROW(graph.save_svg("/nowhere/at/all.svg"), Error);
}

/// With a program in the place of Graphviz, which is not installed everywhere, and in a folder of its own.
class GraphvizTest : public GraphPictureTest {
 protected:
  GraphvizTest() : path_(std::getenv("PATH")), before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder.path());
    setenv("PATH", (folder / "bin:" + path_).c_str(), true);
    install("cat > asked; echo '<svg>'; cat asked; echo '</svg>'");
  }
  ~GraphvizTest() override {
    setenv("PATH", path_.c_str(), true);
    std::filesystem::current_path(before_);
  }
  /// A script that gets the text of the graph on its standard input, and is to write the picture.
  void install(const std::string& script) const {
    folder.write("bin/dot", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder / "bin/dot", std::filesystem::perms::owner_all);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder / name);
    return {(std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()};
  }

  TemporaryFolder folder;

 private:
  const std::string path_;
  const std::filesystem::path before_;
};

TEST_F(GraphvizTest, FilesBesideThePictureStayAsTheyWere) {
  folder.write("graph.svg.dot", "the program's");
  GraphDefinition().save_svg(folder / "graph.svg");
  EXPECT_THAT(read("graph.svg"), AllOf(HasSubstr("<svg>"), HasSubstr("digraph")));
  EXPECT_EQ(read("graph.svg.dot"), "the program's");
}

TEST_F(GraphvizTest, APathIsNotTakenForAnOption) {
  GraphDefinition().save_svg("-v");
  EXPECT_THAT(read("-v"), HasSubstr("</svg>"));
}

TEST_F(GraphvizTest, AFailureIsToldAndLeavesTheOldPicture) {
  folder.write("graph.svg", "the old one");
  for (const char* script : {"exit 3", "kill -9 $$", "echo '<svg>'"}) {
    install(script);
    EXPECT_THAT(error_of<SystemError>([] { GraphDefinition().save_svg("graph.svg"); }),
                HasSubstr("Graphviz could not draw"))
        << script;
  }
  EXPECT_EQ(read("graph.svg"), "the old one");
  install("exit 3");
  EXPECT_THAT(error_of<SystemError>([] { GraphDefinition().save_svg("graph.svg"); }), HasSubstr("status 3"));
}

// Nobody can know how a process ended then.
TEST_F(GraphvizTest, AFailureIsToldAlsoWhereTheProgramIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  GraphDefinition().save_svg("graph.svg");
  install("exit 3");
  EXPECT_THROW(GraphDefinition().save_svg("other.svg"), SystemError);
  std::signal(SIGCHLD, before);
  EXPECT_THAT(read("graph.svg"), HasSubstr("</svg>"));
  EXPECT_FALSE(std::filesystem::exists("other.svg"));
}

}  // namespace
}  // namespace cuprum::tests
