#include <gtest/gtest.h>

#include <string>

#include "proxy/http/codec.h"

namespace sluice::http {
namespace {

TEST(Preface, IsDecidedAsSoonAsItCanBe) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (std::size_t size = 0; size < preface.size(); ++size) {
    EXPECT_EQ(detectPreface(preface.substr(0, size)), Preface::kUndecided) << size;
    EXPECT_EQ(detectPreface(preface.substr(0, size) + "x"), Preface::kHttp1) << size;
  }
  EXPECT_EQ(detectPreface(preface), Preface::kHttp2);
  EXPECT_EQ(detectPreface(preface + "more"), Preface::kHttp2);
  EXPECT_EQ(detectPreface("G"), Preface::kHttp1);
}

}  // namespace
}  // namespace sluice::http
