// Whatever was given a texture, a surface or an array keeps it, and no longer than it must.
#include <thread>

#include "api/texture/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TextureLifetimeTest : public TextureTest {
 protected:
  static constexpr std::size_t n = 4;
  const LaunchConfig config{.grid = 1, .block = n};
  Kernel row = compile(row_source(), "row");
  Kernel paint = compile(paint_source(), "paint");
  Buffer places = upload(std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f}, stream);
  Buffer out = device.allocate<float>(n, stream);
  OpaqueArray image = filled({n, 1}, {10, 20, 30, 40});

  std::vector<float> result() { return download<float>(out, stream); }

  /// Drivers may take a while to let go.
  template <typename Count>
  static bool becomes_zero(Count&& count) {
    for (int i = 0; i < 2000 && count() != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count() == 0;
  }
};

TEST_F(TextureLifetimeTest, ATextureKeepsItsArray) {
  TextureObject shown = texture(image);
  image.close();
  EXPECT_EQ(live_objects().opaque_arrays, 1u);
  launch(stream, config, row, shown, places, out);
  EXPECT_THAT(result(), ElementsAre(10, 20, 30, 40));
  shown.close();
  EXPECT_EQ(live_objects().opaque_arrays, 0u);
  EXPECT_EQ(live_objects().texture_objects, 0u);
}

TEST_F(TextureLifetimeTest, ATextureKeepsItsBuffer) {
  Buffer memory = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const std::size_t before = live_objects().buffers;
  TextureObject shown = device.create_texture_object(ResourceDescriptor::from_linear(memory, {}));
  memory = {};
  EXPECT_EQ(live_objects().buffers, before);
  const Kernel fetch = compile(R"(extern "C" __global__ void fetch(cudaTextureObject_t image, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x);
  })",
                               "fetch");
  launch(stream, config, fetch, shown, out);
  EXPECT_THAT(result(), ElementsAre(1, 2, 3, 4));
  shown = {};
  EXPECT_EQ(live_objects().buffers, before - 1);
}

TEST_F(TextureLifetimeTest, ADescriptorKeepsWhatItDescribes) {
  const ResourceDescriptor described = ResourceDescriptor::from_opaque_array(image);
  image.close();
  launch(stream, config, row, device.create_texture_object(described), places, out);
  EXPECT_THAT(result(), ElementsAre(10, 20, 30, 40));
}

TEST_F(TextureLifetimeTest, ASurfaceKeepsItsArray) {
  OpaqueArray canvas = array({n, 1}, ArrayFormatType::float32, 1, true);
  const TextureObject shown = texture(canvas);
  SurfaceObject written = surface(canvas);
  canvas.close();
  launch(stream, config, paint, written, 3.0f);
  launch(stream, config, row, shown, places, out);
  EXPECT_THAT(result(), ElementsAre(3, 4, 5, 6));
}

TEST_F(TextureLifetimeTest, LaunchesRefuseWhatIsClosed) {
  TextureObject shown = texture(image);
  shown.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, row, shown, places, out); }),
              HasSubstr("this texture is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, paint, SurfaceObject(), 1.0f); }),
              HasSubstr("this surface is empty"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)prepare(stream, config, row, shown, places, out); }),
              HasSubstr("this texture is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph::GraphDefinition().launch(config, row, shown, places, out); }),
              HasSubstr("this texture is closed"));
}

TEST_F(TextureLifetimeTest, TypedKernelsTakeTexturesAndSurfaces) {
  const TypedKernel<void(TextureObject, float*, float*)> typed_row(row);
  launch(stream, config, typed_row, texture(image), places, out);
  EXPECT_THAT(result(), ElementsAre(10, 20, 30, 40));
  const TypedKernel<void(SurfaceObject, float)> typed_paint(paint);
  const OpaqueArray canvas = array({n, 1}, ArrayFormatType::float32, 1, true);
  const SurfaceObject written = surface(canvas);
  launch(stream, config, typed_paint, written, 1.0f);
  EXPECT_THAT(contents<float>(canvas), ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(TypedKernel<void(TextureObject, float)>{row}, InvalidArgument);
}

TEST_F(TextureLifetimeTest, PreparedLaunchesKeepTexturesAndSurfaces) {
  OpaqueArray canvas = array({n, 1}, ArrayFormatType::float32, 1, true);
  TextureObject shown = texture(image), of_canvas = texture(canvas);
  SurfaceObject written = surface(canvas);
  PreparedLaunch paints = prepare(stream, config, paint, written, 5.0f);
  PreparedLaunch reads = prepare(stream, config, row, shown, places, out);
  written.close();
  shown.close();
  image.close();
  reads();
  EXPECT_THAT(result(), ElementsAre(10, 20, 30, 40));
  reads.set<0>(of_canvas);
  EXPECT_EQ(live_objects().texture_objects, 1u);  // the one before has gone
  of_canvas.close();
  canvas.close();
  paints();
  reads();
  EXPECT_THAT(result(), ElementsAre(5, 6, 7, 8));
}

TEST_F(TextureLifetimeTest, GraphsKeepTexturesAndSurfaces) {
  OpaqueArray canvas = array({n, 1}, ArrayFormatType::float32, 1, true);
  {
    SurfaceObject written = surface(canvas);
    TextureObject shown = texture(canvas);
    canvas.close();
    graph::GraphDefinition definition;
    definition.launch(config, paint, written, 2.0f).launch(config, row, shown, places, out);
    written.close();
    shown.close();
    graph::Graph executable = definition.instantiate();
    definition = graph::GraphDefinition();
    executable.launch(stream);
    EXPECT_THAT(result(), ElementsAre(2, 3, 4, 5));
    EXPECT_EQ(live_objects().texture_objects, 1u);
  }
  EXPECT_TRUE(becomes_zero([] { return live_objects().texture_objects + live_objects().surface_objects; }));
}

TEST_F(TextureLifetimeTest, CapturedWorkKeepsTexturesAndArrays) {
  OpaqueArray other = array({n, 1});
  graph::GraphBuilder builder = device.create_graph_builder();
  builder.begin_building();
  {
    const Buffer source = upload(std::vector<float>{6, 7, 8, 9}, stream);
    stream.sync();
    other.copy_from(source, builder);
    const TextureObject shown = texture(other);
    launch(builder, config, row, shown, places, out);
  }
  OpaqueArray back = array({n, 1});
  other.copy_to(back, builder);
  other.close();
  graph::Graph executable = builder.end_building().complete();
  builder.close();
  executable.launch(stream);
  EXPECT_THAT(result(), ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(contents<float>(back), ElementsAre(6, 7, 8, 9));
  executable = {};
  EXPECT_TRUE(becomes_zero([] { return live_objects().texture_objects; }));
}

TEST_F(TextureLifetimeTest, NodesKeepWhatTheyAreUpdatedTo) {
  TextureObject first = texture(image), second = texture(filled({n, 1}, {4, 3, 2, 1}));
  graph::GraphDefinition definition;
  const graph::KernelNode node = definition.launch(config, row, first, places, out);
  node.update(config, row, second, places, out);
  second.close();
  first.close();
  EXPECT_TRUE(becomes_zero([] { return live_objects().texture_objects - 1; }));
  definition.instantiate().launch(stream);
  EXPECT_THAT(result(), ElementsAre(4, 3, 2, 1));
}

}  // namespace
}  // namespace cuprum::tests
