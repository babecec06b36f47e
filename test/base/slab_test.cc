#include "proxy/base/slab.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sluice::base {
namespace {

struct Thing {
  Thing(Handle<Thing> self, std::string text = {}, int* deaths = nullptr)
      : handle(self), name(std::move(text)), deathCount(deaths) {}
  Thing(const Thing&) = delete;
  ~Thing() {
    if (deathCount != nullptr) ++*deathCount;
    if (onDeath) onDeath();
  }

  Handle<Thing> handle;
  std::string name;
  int* deathCount;
  std::function<void()> onDeath;
};

TEST(Handle, IsEmptyByDefault) {
  const Handle<Thing> handle;
  EXPECT_TRUE(handle.empty());
  EXPECT_EQ(Slab<Thing>().find(handle), nullptr);
}

TEST(Handle, SurvivesConversionToATokenAndBack) {
  const Handle<Thing> handle{0xfffffffe, 0x80000001};
  EXPECT_EQ(Handle<Thing>::fromToken(handle.toToken()), handle);
  EXPECT_EQ(Handle<Thing>{}.toToken(), 0u);
}

TEST(Slab, GivesAnObjectItsOwnHandleFirst) {
  Slab<Thing> slab;
  Thing& thing = slab.create("a");
  EXPECT_FALSE(thing.handle.empty());
  EXPECT_EQ(slab.find(thing.handle), &thing);
  EXPECT_EQ(thing.name, "a");
  EXPECT_EQ(slab.size(), 1u);
}

TEST(Slab, FindsNothingOnceTheObjectIsGone) {
  Slab<Thing> slab;
  int deaths = 0;
  const Handle<Thing> handle = slab.create("a", &deaths).handle;
  slab.destroy(handle);
  EXPECT_EQ(deaths, 1);
  EXPECT_EQ(slab.find(handle), nullptr);
  EXPECT_EQ(slab.size(), 0u);
}

TEST(Slab, DoesNotFindTheNextObjectOfASlotByAnOldHandle) {
  Slab<Thing> slab;
  const Handle<Thing> old = slab.create("old").handle;
  slab.destroy(old);
  Thing& tenant = slab.create("new");
  ASSERT_EQ(tenant.handle.index, old.index) << "the slot is reused";
  EXPECT_NE(tenant.handle.generation, old.generation);
  EXPECT_EQ(slab.find(old), nullptr);
  EXPECT_EQ(slab.find(tenant.handle), &tenant);
}

TEST(Slab, FindsNothingBehindItsEnd) {
  Slab<Thing> slab;
  const Handle<Thing> handle = slab.create().handle;
  EXPECT_EQ(slab.find({handle.index + 1000000, handle.generation}), nullptr);
  EXPECT_EQ(slab.find({handle.index, 0}), nullptr);
}

TEST(Slab, NeverMovesItsObjects) {
  Slab<Thing> slab;
  std::map<Thing*, Handle<Thing>> things;
  for (int i = 0; i < 1000; ++i) {
    Thing& thing = slab.create(std::to_string(i));
    things[&thing] = thing.handle;
  }
  EXPECT_EQ(things.size(), 1000u);
  for (const auto& [thing, handle] : things) EXPECT_EQ(slab.find(handle), thing);
}

TEST(Slab, DoesNotFindAnObjectFromItsOwnDestructor) {
  Slab<Thing> slab;
  Thing& thing = slab.create();
  bool found = true;
  thing.onDeath = [&slab, &found, handle = thing.handle] { found = slab.find(handle) != nullptr; };
  slab.destroy(thing.handle);
  EXPECT_FALSE(found);
}

TEST(Slab, DestroysItsRemainingObjects) {
  int deaths = 0;
  {
    Slab<Thing> slab;
    for (int i = 0; i < 50; ++i) slab.create("", &deaths);
    slab.destroy(slab.create("", &deaths).handle);
    EXPECT_EQ(deaths, 1);
  }
  EXPECT_EQ(deaths, 51);
}

TEST(Slab, VisitsOnlyLivingObjects) {
  Slab<Thing> slab;
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 40; ++i) handles.push_back(slab.create(std::to_string(i)).handle);
  for (std::size_t i = 0; i < handles.size(); i += 2) slab.destroy(handles[i]);
  std::set<std::string> names;
  slab.forEach([&names](Thing& thing) { names.insert(thing.name); });
  EXPECT_EQ(names.size(), 20u);
  EXPECT_TRUE(names.contains("1"));
  EXPECT_FALSE(names.contains("0"));
}

TEST(Slab, MayGrowAndShrinkWhileItIsVisited) {
  Slab<Thing> slab;
  for (int i = 0; i < 32; ++i) slab.create("old");
  int visits = 0;
  slab.forEach([&](Thing& thing) {
    if (thing.name != "old" || ++visits > 32) return;
    slab.create("new");
    slab.create("new");
    slab.destroy(thing.handle);
  });
  EXPECT_EQ(visits, 32);
  EXPECT_EQ(slab.size(), 64u);
}

TEST(Slab, StaysConsistentUnderRandomUse) {
  std::mt19937 random(7);
  Slab<Thing> slab;
  std::map<std::uint64_t, std::string> living;
  std::vector<Handle<Thing>> dead;
  for (int i = 0; i < 20000; ++i) {
    if (living.empty() || random() % 5 < 3) {
      const std::string name = std::to_string(i);
      living[slab.create(name).handle.toToken()] = name;
    } else {
      auto victim = living.begin();
      std::advance(victim, random() % std::min<std::size_t>(living.size(), 16));
      dead.push_back(Handle<Thing>::fromToken(victim->first));
      slab.destroy(dead.back());
      living.erase(victim);
    }
    ASSERT_EQ(slab.size(), living.size());
  }
  for (const auto& [token, name] : living) ASSERT_EQ(slab.find(Handle<Thing>::fromToken(token))->name, name);
  for (const Handle<Thing> handle : dead) ASSERT_EQ(slab.find(handle), nullptr);
}

}  // namespace
}  // namespace sluice::base
