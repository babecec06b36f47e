#include "proxy/processing/holds.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::processing {
/// The fixture has the name of the class that it tests: in a namespace of its own it hides that from no other file.
namespace holds_test {
namespace {

struct Taken {
  std::vector<int>& back;
  int number;
};

void giveBack(const void* what) {
  const Taken& taken = *static_cast<const Taken*>(what);
  taken.back.push_back(taken.number);
}

class Holds : public ::testing::Test {
 protected:
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  std::vector<int> back_;
  const Taken one_{back_, 1};
  const Taken two_{back_, 2};
};

TEST_F(Holds, GiveBackOnceTheLastFirst) {
  processing::Holds holds;
  EXPECT_TRUE(holds.empty());
  holds.add(arena_, &one_, giveBack);
  holds.add(arena_, &two_, giveBack);
  EXPECT_TRUE(back_.empty());
  holds.release();
  EXPECT_EQ(back_, (std::vector{2, 1}));
  holds.release();
  EXPECT_EQ(back_.size(), 2u);
}

TEST_F(Holds, GiveBackWhenTheyEnd) {
  { processing::Holds().add(arena_, &one_, giveBack); }
  EXPECT_EQ(back_, std::vector{1});
}

TEST_F(Holds, AreMovedWithWhatTheyBelongTo) {
  processing::Holds holds;
  {
    processing::Holds before;
    before.add(arena_, &one_, giveBack);
    holds = std::move(before);
  }
  EXPECT_TRUE(back_.empty());
  {
    processing::Holds after(std::move(holds));
    EXPECT_FALSE(after.empty());
  }
  EXPECT_EQ(back_, std::vector{1});
}

}  // namespace
}  // namespace holds_test
}  // namespace sluice::processing
