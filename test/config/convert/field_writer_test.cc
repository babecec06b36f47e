// Tests how members become fields.
#include "config/convert/field_writer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "config/yaml/yaml_writer.h"

namespace sluice::config {
namespace {

struct WrittenPart {
  std::optional<std::uint32_t> count;
};
void writePart(const WrittenPart& part, FieldWriter& to) { to.number("count", part.count); }

template <typename Rows>
std::string writtenBy(const Rows& rows) {
  Value map = emptyMap({});
  FieldWriter writer(map);
  rows(writer);
  return writeYaml(map);
}

TEST(FieldWriter, WritesEachKindOfMember) {
  constexpr Choice<bool> kWords[] = {{"Off", false}, {"On", true}};
  EXPECT_EQ(writtenBy([&](FieldWriter& to) {
              to.text("text", "7").anyText("empty", "").flag("flag", false).number("number", std::uint16_t{0});
              to.time("time", std::chrono::milliseconds(1500)).word("word", true, kWords);
              to.texts("texts", {"a"}).numbers("numbers", std::vector<int>{1, -2}).textMap("map", {{"k", "v"}});
              to.map("part", WrittenPart{3}, writePart).list("list", std::vector<WrittenPart>{{1}, {}}, writePart);
            }),
            "text: \"7\"\nempty: \"\"\nflag: false\nnumber: 0\ntime: \"1s500ms\"\nword: \"On\"\ntexts:\n  - \"a\"\n"
            "numbers:\n  - 1\n  - -2\nmap:\n  k: \"v\"\npart:\n  count: 3\nlist:\n  - count: 1\n  - {}\n");
}

TEST(FieldWriter, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(writtenBy([](FieldWriter& to) {
              to.text("text", "").texts("texts", {}).flag("flag", std::nullopt).time("time", std::nullopt);
              to.number("number", ifSet(0)).time("zero", ifSet(base::Duration::zero())).textMap("map", {});
              to.map("part", WrittenPart(), writePart).map("no", std::optional<WrittenPart>(), writePart);
              EXPECT_EQ(to.size(), 0u);
              to.map("present", std::optional<WrittenPart>(WrittenPart()), writePart);
            }),
            "present:\n  {}\n");
  EXPECT_EQ(ifSet(std::optional<int>(0)), std::nullopt);
  EXPECT_EQ(ifSet(std::optional<int>(2)), 2);
}

}  // namespace
}  // namespace sluice::config
