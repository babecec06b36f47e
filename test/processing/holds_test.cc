#include "proxy/processing/holds.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::processing {
namespace {

struct NumberedResource {
  std::vector<int>& back;
  int number;
};

void giveBack(const void* what) {
  const NumberedResource& resource = *static_cast<const NumberedResource*>(what);
  resource.back.push_back(resource.number);
}

class HoldsTest : public ::testing::Test {
 protected:
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  std::vector<int> back_;
  const NumberedResource one_{back_, 1};
  const NumberedResource two_{back_, 2};
};

TEST_F(HoldsTest, GivesBackOnceInReverseOrder) {
  Holds holds;
  EXPECT_TRUE(holds.empty());
  holds.add(arena_, &one_, giveBack);
  holds.add(arena_, &two_, giveBack);
  EXPECT_TRUE(back_.empty());
  holds.release();
  EXPECT_EQ(back_, (std::vector{2, 1}));
  holds.release();
  EXPECT_EQ(back_.size(), 2u);
}

TEST_F(HoldsTest, GivesOneBackBeforeTheOthersAndOnce) {
  Holds holds;
  holds.add(arena_, &one_, giveBack);
  holds.add(arena_, &two_, giveBack);
  holds.release(&one_);
  EXPECT_EQ(back_, (std::vector{1}));
  holds.release(&one_);
  holds.release(&back_);
  EXPECT_EQ(back_, (std::vector{1}));
  holds.release();
  EXPECT_EQ(back_, (std::vector{1, 2}));
}

TEST_F(HoldsTest, GivesBackWhenDestroyed) {
  { Holds().add(arena_, &one_, giveBack); }
  EXPECT_EQ(back_, std::vector{1});
}

TEST_F(HoldsTest, KeepsItsResourcesWhenMoved) {
  Holds holds;
  {
    Holds before;
    before.add(arena_, &one_, giveBack);
    holds = std::move(before);
  }
  EXPECT_TRUE(back_.empty());
  {
    Holds after(std::move(holds));
    EXPECT_FALSE(after.empty());
  }
  EXPECT_EQ(back_, std::vector{1});
}

}  // namespace
}  // namespace sluice::processing
