#include <boost/test/unit_test.hpp>

#include "elastic_runner/npy_arrays.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;
using Kind = DataShape::Kind;

struct Fixture {
  Fixture() {
    options.dataset = "npy";
    options.data_dir = dir.path();
    for (const std::string split : {"train", "test"}) {
      write_file(path(split + "_inputs"),
                 npy_text("<f4", "(3, 2)", bytes_of<float>({0, 1, 2, 3, 4, 5.5})));
      write_file(path(split + "_labels"),
                 npy_text("<i8", "(3,)", bytes_of<std::int64_t>({2, 0, 1})));
    }
  }
  std::string path(const std::string& name) const { return (dir / (name + ".npy")).string(); }
  NpyArrays open(bool skip = false) {
    BadSamples bad(skip);
    return NpyArrays(options, bad);
  }
  std::string error() {
    return complaint_of([&] { open().shape(); });
  }
  // The complaint about `content` as the training inputs; the path in front is left out.
  std::string error_of_inputs(const std::string& content) {
    const std::string name = path("train_inputs");
    write_file(name, content);
    const std::string text = error();
    return text.starts_with(name + ": ") ? text.substr(name.size() + 2) : text;
  }

  TempDir dir;
  EngineOptions options;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(npy_arrays_tests, Fixture)

BOOST_AUTO_TEST_CASE(whole_numbers_are_classes) {
  const NpyArrays arrays = open();
  BOOST_TEST((arrays.shape().kind == Kind::kArrays));
  BOOST_TEST(arrays.shape().classes == 3);
  BOOST_TEST(arrays.shape().sample == std::vector<std::int64_t>{2},
             boost::test_tools::per_element());
  double row[2];
  arrays.train().inputs.read_row(2, row);
  BOOST_TEST(row[1] == 5.5);
  BOOST_TEST(count_train_samples(options) == 3);
  options.subset = 2;
  BOOST_TEST(count_train_samples(options) == 2);
  options.subset = 4;
  BOOST_TEST(error() == "--subset=4: the training set has 3 samples");
}

BOOST_AUTO_TEST_CASE(other_numbers_are_targets) {
  for (const std::string split : {"train", "test"})
    write_file(path(split + "_labels"),
               npy_text("<f8", "(3, 2)", bytes_of<double>({1, 2, 3, 4, 5, 6}), 2));
  const DataShape shape = open().shape();
  BOOST_TEST(shape.classes == 0);
  BOOST_TEST(shape.target == std::vector<std::int64_t>{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_type_is_converted) {
  const auto second = [&](const std::string& type, const std::string& data) {
    write_file(path("x"), npy_text(type, "(2, 1)", data, 3));
    float value = 0;
    NpyFile(path("x")).read_row(1, &value);
    return value;
  };
  BOOST_TEST(second("|u1", bytes_of<std::uint8_t>({1, 200})) == 200);
  BOOST_TEST(second("<i4", bytes_of<std::int32_t>({1, -7})) == -7);
  BOOST_TEST(second("<i8", bytes_of<std::int64_t>({1, -70000})) == -70000);
  BOOST_TEST(second("<f4", bytes_of<float>({1, 0.25})) == 0.25);
  BOOST_TEST(second("<f8", bytes_of<double>({1, -0.5})) == -0.5);
}

BOOST_AUTO_TEST_CASE(four_dimensions_are_images_or_masks) {
  for (const std::string split : {"train", "test"})
    write_file(path(split + "_inputs"), npy_text("|u1", "(3, 1, 2, 2)", std::string(12, '\1')));
  BOOST_TEST((open().shape().kind == Kind::kImages));
  BOOST_TEST(open().shape().rows == 2);
  for (const std::string split : {"train", "test"})
    write_file(path(split + "_labels"), npy_text("|u1", "(3, 2, 2)", std::string(12, '\4')));
  BOOST_TEST((open().shape().kind == Kind::kMasks));
  BOOST_TEST(open().shape().classes == 5);
  for (const std::string split : {"train", "test"})
    write_file(path(split + "_labels"), npy_text("|u1", "(3, 4)", std::string(12, '\4')));
  BOOST_TEST(error() == path("train_labels") +
                            ": shape (3, 4) for inputs of shape (3, 1, 2, 2); classes are one for "
                            "each sample, or for each pixel of images (samples × channels × rows × "
                            "columns)");
}

BOOST_AUTO_TEST_CASE(defects_are_named) {
  const std::string data = bytes_of<float>({0, 1, 2, 3, 4, 5}),
                    good = npy_text("<f4", "(3, 2)", data);
  BOOST_TEST(error_of_inputs("") == "wrong magic: no NumPy array (.npy)");
  BOOST_TEST(error_of_inputs("hello, world") == "wrong magic: no NumPy array (.npy)");
  BOOST_TEST(error_of_inputs(good.substr(0, 9)) == "truncated: ends in its header");
  BOOST_TEST(error_of_inputs(good.substr(0, 50)) == "truncated: ends in its header");
  BOOST_TEST(error_of_inputs(good.substr(0, good.size() - 1)) ==
             "truncated: 23 of 24 bytes of data");
  BOOST_TEST(error_of_inputs(good + "x") == "longer than its header says (24 bytes of data)");
  std::string later = good;
  later[6] = 9;
  BOOST_TEST(error_of_inputs(later) == "version 9 of the format; accepted are 1 to 3");
  BOOST_TEST(error_of_inputs(npy_text(">f4", "(3, 2)", data)) ==
             "numbers of type '>f4'; accepted are uint8, int32, int64, float32 and float64, little "
             "endian");
  std::string fortran = good;
  fortran.replace(fortran.find("False"), 5, "True ");
  BOOST_TEST(error_of_inputs(fortran) == "not in C order (numpy.ascontiguousarray gives that)");
  BOOST_TEST(error_of_inputs(npy_text("<f4", "3", data)) == "its header names no shape");
  BOOST_TEST(error_of_inputs(npy_text("<f4", "(99999999999999999999,)", data)) ==
             "a dimension that is too large in its shape (99999999999999999999,)");
  BOOST_TEST(error_of_inputs(npy_text("<f4", "(9999999999, 9999999999)", data)) ==
             "too many numbers in its shape (9999999999, 9999999999)");
  BOOST_TEST(error_of_inputs(npy_text("<f4", "(6,)", data)) ==
             "shape (6,); accepted are samples × numbers, with more dimensions if need be");
  BOOST_TEST(error_of_inputs(npy_text("<f4", "(2, 3)", data)) ==
             path("train_labels") + ": shape (3,) for 2 samples");
  write_file(path("test_inputs"), npy_text("<f4", "(3, 1)", bytes_of<float>({1, 2, 3})));
  BOOST_TEST(error_of_inputs(good) ==
             path("test_inputs") +
                 ": samples of another shape or kind of number, (3, 1) in all, than " +
                 path("train_inputs") + ", (3, 2)");
}

BOOST_AUTO_TEST_CASE(negative_classes_are_refused_or_left_out) {
  write_file(path("train_labels"), npy_text("<i4", "(3,)", bytes_of<std::int32_t>({2, -1, 1})));
  BOOST_TEST(error() == path("train_labels") +
                            ": class -1 of sample 1, accepted are 0..999999 (numbers instead: as "
                            "float32)");
  const NpyArrays arrays = open(true);
  BOOST_TEST(arrays.train().rows == (std::vector<std::int64_t>{0, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
