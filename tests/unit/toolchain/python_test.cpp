#include "toolchain/python.hpp"

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PythonTest : public FakeTree {
 protected:
  fs::path packages(const fs::path& folder) {
    fs::create_directories(root / folder);
    return root / folder;
  }

  std::vector<std::string> found() {
    std::vector<std::string> folders;
    for (const SitePackages& place : site_packages(around)) {
      folders.push_back(fs::relative(place.folder, root).string());
    }
    return folders;
  }
};

TEST_F(PythonTest, AProgramThatIsNoPythonHasNoPackages) {
  packages("home/.local/lib/python3.11/site-packages");
  variables["HOME"] = root / "home";
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(PythonTest, TheActiveVirtualEnvironmentHasThem) {
  packages("venv/lib/python3.11/site-packages");
  variables["VIRTUAL_ENV"] = root / "venv";
  EXPECT_THAT(found(), ElementsAre("venv/lib/python3.11/site-packages"));
}

TEST_F(PythonTest, ARunningPythonHasItsOwnPackages) {
  packages("opt/lib/python3.12/site-packages");
  around.executable = root / "opt/bin/python3.12";
  around.invoked_as = root / "opt/bin/python3";
  EXPECT_THAT(found(), ElementsAre("opt/lib/python3.12/site-packages"));
}

TEST_F(PythonTest, ARunningPythonOfAVirtualEnvironmentIsKnownByTheLinkThatStartedIt) {
  packages("opt/lib/python3.12/site-packages");
  packages("venv/lib/python3.12/site-packages");
  file("venv/pyvenv.cfg");
  around.executable = root / "opt/bin/python3.12";
  around.invoked_as = root / "venv/bin/python";
  EXPECT_THAT(found(), ElementsAre("venv/lib/python3.12/site-packages", "opt/lib/python3.12/site-packages"));
}

TEST_F(PythonTest, APythonStartedByItsBareNameIsLookedUpInPath) {
  packages("venv/lib/python3.12/site-packages");
  file("venv/pyvenv.cfg");
  file("venv/bin/python");
  around.executable = root / "opt/bin/python3.12";
  around.invoked_as = "python";
  variables["PATH"] = "/nowhere:" + (root / "venv/bin").string();
  EXPECT_THAT(found(), ElementsAre("venv/lib/python3.12/site-packages"));
}

TEST_F(PythonTest, TheUsersOwnPackagesComeBeforeThoseOfTheInstallation) {
  packages("usr/lib/python3/dist-packages");
  packages("home/.local/lib/python3.11/site-packages");
  around.executable = root / "usr/bin/python3.11";
  around.invoked_as = root / "usr/bin/python3";
  variables["HOME"] = root / "home";
  EXPECT_THAT(found(), ElementsAre("home/.local/lib/python3.11/site-packages", "usr/lib/python3/dist-packages"));
}

TEST_F(PythonTest, TheNewestVersionOfAnEnvironmentComesFirst) {
  packages("venv/lib/python3.9/site-packages");
  packages("venv/lib/python3.11/site-packages");
  variables["VIRTUAL_ENV"] = root / "venv";
  EXPECT_THAT(found(), ElementsAre("venv/lib/python3.11/site-packages", "venv/lib/python3.9/site-packages"));
}

TEST_F(PythonTest, WhatTheProgramNamesComesFirst) {
  packages("venv/lib/python3.11/site-packages");
  variables["VIRTUAL_ENV"] = root / "venv";
  around.site_packages = {packages("mine")};
  EXPECT_THAT(found(), ElementsAre("mine", "venv/lib/python3.11/site-packages"));
}

TEST_F(PythonTest, AFolderIsListedOnce) {
  around.site_packages = {packages("venv/lib/python3.11/site-packages")};
  variables["VIRTUAL_ENV"] = root / "venv";
  variables["CONDA_PREFIX"] = root / "venv";
  EXPECT_THAT(found(), ElementsAre("venv/lib/python3.11/site-packages"));
}

TEST_F(PythonTest, AnEnvironmentThatIsGoneIsPassedOver) {
  variables["VIRTUAL_ENV"] = root / "gone";
  file("lib");  // a file where a folder is expected
  variables["CONDA_PREFIX"] = root;
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace cuprum::toolchain
