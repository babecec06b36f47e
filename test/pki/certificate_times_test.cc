#include "proxy/pki/certificate_times.h"

#include <gtest/gtest.h>

#include "test/support/test_pki.h"

namespace sluice::pki {
namespace {

using namespace std::chrono_literals;

TEST(CertificateTimes, AreThoseOfEachCertificateInTheOrderOfTheFile) {
  test::CertificateSpec early;
  early.notBefore = -48h;
  early.notAfter = -24h;
  test::CertificateSpec late;
  late.notAfter = 48h;
  const base::WallTime now = std::chrono::system_clock::now();
  const auto times = certificateTimes(test::selfSigned(early).certificate + test::selfSigned(late).certificate);
  ASSERT_TRUE(times.ok());
  ASSERT_EQ(times->size(), 2U);
  EXPECT_LT(times->at(0).until, now);
  EXPECT_LT(times->at(0).from, now - 47h);
  EXPECT_TRUE(times->at(1).covers(now));
  EXPECT_TRUE(times->at(1).covers(now + 47h));
  EXPECT_FALSE(times->at(1).covers(now + 49h));
}

TEST(CertificateTimes, NameWhatIsNoCertificate) {
  EXPECT_FALSE(certificateTimes("").ok());
  const auto key = certificateTimes(test::makeAuthority().key);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().origin, base::ErrorOrigin::kConfig);
}

}  // namespace
}  // namespace sluice::pki
