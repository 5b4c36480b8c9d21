#include "elastic_runner/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "elastic_runner/augmentation.h"
#include "elastic_runner/image_file.h"
#include "elastic_runner/resample.h"
#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

namespace fs = std::filesystem;

// The entries of a folder whose names do not begin with a dot, by name.
std::vector<fs::path> entries_of(const fs::path& folder, fs::file_type type) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code broken_link;
    if (entries->status(broken_link).type() == type &&
        entries->path().filename().native().front() != '.')
      found.push_back(entries->path());
  }
  if (error) throw InputError(folder.string() + ": cannot be read: " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) names.push_back(folder.filename().string());
  return names;
}

bool is_image_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

class FolderImages : public ImageSplit {
 public:
  FolderImages(const fs::path& folder, const std::vector<std::string>& classes, int size,
               bool augment, BadSamples& bad)
      : size_(size), augment_(augment) {
    for (const auto& entry : entries_of(folder, fs::file_type::directory)) {
      const auto place =
          std::lower_bound(classes.begin(), classes.end(), entry.filename().string());
      if (place == classes.end() || *place != entry.filename())
        throw InputError(entry.string() + ": a class that train does not have");
      add_class(entry, place - classes.begin(), bad);
    }
    if (images_.empty()) throw InputError(folder.string() + ": has no usable images");
  }
  void keep_first(std::int64_t samples) { images_.resize(static_cast<std::size_t>(samples)); }

  std::int64_t count() const override { return std::ssize(images_); }
  std::int64_t label(std::int64_t image) const override { return at(image).label; }
  void read(std::int64_t image, RandomStream* augmentation, std::uint8_t* pixels) const override {
    const ImageFile file(folders_[at(image).folder] + "/" + at(image).name);
    ImageView view = augment_ && augmentation != nullptr
                         ? random_view(file.width(), file.height(), *augmentation)
                         : centre_view(file.width(), file.height());
    int reduction = 1;
    while (reduction < 8 && std::min(view.width, view.height) >= 2.0 * reduction * size_)
      reduction *= 2;
    const RgbImage decoded = file.decode(reduction);
    const double x = double(decoded.width) / file.width(),
                 y = double(decoded.height) / file.height();
    view = {view.left * x, view.top * y, view.width * x, view.height * y, view.mirrored};
    resample(decoded, view, size_, pixels);
  }

 private:
  struct Image {
    std::string name;  // in its folder
    std::size_t folder;
    std::int64_t label;
  };

  const Image& at(std::int64_t image) const { return images_[static_cast<std::size_t>(image)]; }

  void add_class(const fs::path& folder, std::int64_t label, BadSamples& bad) {
    const std::size_t before = images_.size();
    bool any = false;
    for (const auto& file : entries_of(folder, fs::file_type::regular)) {
      if (!is_image_name(file)) continue;
      any = true;
      if (usable(file, bad)) images_.push_back({file.filename().string(), folders_.size(), label});
    }
    if (!any) throw InputError(folder.string() + ": has no images (*.jpg, *.jpeg, *.png)");
    if (images_.size() > before) folders_.push_back(folder.string());
  }
  // Only where bad files are left out: otherwise the read that needs one reports it.
  static bool usable(const fs::path& file, BadSamples& bad) {
    if (!bad.skip()) return true;
    try {
      check_image_file(file.string());
      return true;
    } catch (const InputError& error) {
      bad.add(error.what());
      return false;
    }
  }

  const int size_;
  const bool augment_;
  std::vector<std::string> folders_;
  std::vector<Image> images_;
};

}  // namespace

ImageSet open_image_folder(const EngineOptions& options, BadSamples& bad) {
  const fs::path root = options.data_dir;
  const auto classes = names_of(entries_of(root / "train", fs::file_type::directory));
  if (classes.size() < 2)
    throw InputError((root / "train").string() + ": has " + std::to_string(classes.size()) +
                     " folders; at least 2 are needed, one for each class");
  const ReadingOptions& reading = options.reading;
  ImageSet set;
  set.channels = 3;
  set.rows = set.columns = reading.image_size;
  set.classes = std::ssize(classes);
  set.mean = {0.485, 0.456, 0.406};
  set.deviation = {0.229, 0.224, 0.225};
  auto train = std::make_unique<FolderImages>(root / "train", classes, reading.image_size,
                                              reading.augment, bad);
  train->keep_first(subset_of(train->count(), options.subset));
  set.train = std::move(train);
  set.test = std::make_unique<FolderImages>(root / "test", classes, reading.image_size, false, bad);
  return set;
}

}  // namespace jabas
