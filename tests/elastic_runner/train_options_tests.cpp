#include <boost/test/unit_test.hpp>
#include <sstream>

#include "allocator/error.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/train_options.h"

using namespace jabas;

namespace {

TrainCommand parse(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return parse_train_arguments(arguments);
}

// The text of the one error that `line` gives.
std::string error_of(const std::string& line) {
  try {
    parse(line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_options_tests)

BOOST_AUTO_TEST_CASE(defaults) {
  const TrainCommand command = parse("--local 2");
  const TrainingSpec& spec = command.spec;
  BOOST_TEST(command.local);
  BOOST_TEST(spec.model == "cnn");
  BOOST_TEST(spec.dataset == "fashion-mnist");
  BOOST_TEST(spec.epochs == 1);
  BOOST_TEST(spec.local_batch == 32);
  BOOST_TEST(!spec.local_batch_fixed);
  BOOST_TEST(spec.virtual_workers == 2);
  BOOST_TEST(spec.batch_min == 64);
  BOOST_TEST(spec.batch_max == 64);
  BOOST_TEST(spec.batch_initial == 64);
  BOOST_TEST(spec.adapt_every == 100);
  BOOST_TEST(spec.lr_scaling == "sqrt");
  BOOST_TEST(spec.lr == 0.02);
  BOOST_TEST(spec.momentum == 0.9);
  BOOST_TEST(spec.seed == 0U);
  BOOST_TEST(spec.device == "auto");
  BOOST_TEST(!spec.adaptive);
  BOOST_TEST(spec.checkpoint_dir.empty());
  BOOST_TEST(spec.keep_checkpoints == 2);
}

BOOST_AUTO_TEST_CASE(workers_per_epoch_and_split_tables) {
  const TrainingSpec spec =
      parse("--local 4,2,3 --virtual-workers 8 --vsw 2,4,3:3:2 --accum 0 --epochs 3").spec;
  BOOST_TEST(spec.workers_per_epoch == (std::vector<int>{4, 2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(spec.vsw.size() == 3U);
  BOOST_TEST(spec.vsw[2] == (std::vector<int>{3, 3, 2}), boost::test_tools::per_element());
  BOOST_TEST(spec.virtual_workers == 8);
  BOOST_TEST(spec.batch_min == 256);
}

BOOST_AUTO_TEST_CASE(virtual_workers_come_from_the_batch_or_the_split) {
  BOOST_TEST(parse("--local 2 --batch-min 256").spec.virtual_workers == 8);
  BOOST_TEST(parse("--local 1 --vsw 2 --accum 3").spec.virtual_workers == 8);
  BOOST_TEST(parse("--local 4,2").spec.virtual_workers == 4);
  BOOST_TEST(parse("--virtual-workers 8").spec.virtual_workers == 8);
  BOOST_TEST(parse("").spec.virtual_workers == 0);  // Slurm: the first set decides
}

BOOST_AUTO_TEST_CASE(adaptive_follows_the_bounds) {
  const TrainingSpec spec =
      parse("--local 2 --batch-min 64 --batch-max 512 --similarity-target 0.3").spec;
  BOOST_TEST(spec.adaptive);
  BOOST_TEST(spec.batch_initial == 64);
  BOOST_TEST(!parse("--local 2 --batch-min 64 --batch-max 512 --adaptive off").spec.adaptive);
  BOOST_TEST(error_of("--local 2 --batch-min 64 --batch-max 512") ==
             "--similarity-target: required when the batch is adaptive; accepted is a number "
             "between 0 and 1 "
             "(or --adaptive=off)");
  BOOST_TEST(
      parse("--local 2 --batch-min 64 --batch-max 512 --batch-policy goodput").spec.adaptive);
}

BOOST_AUTO_TEST_CASE(resume_takes_its_own_folder_or_that_of_state) {
  BOOST_TEST(parse("--local 1 --state /s --resume").spec.resume_dir == "/s");
  BOOST_TEST(parse("--local 1 --state /s --resume=/other").spec.resume_dir == "/other");
  BOOST_TEST(parse("--local 1 --state /s").spec.resume_dir == "");
  BOOST_TEST(parse("--resume").resume);
  BOOST_TEST(error_of("--local 1 --resume") == "--resume: needs a directory, or --state DIR");
}

BOOST_AUTO_TEST_CASE(the_sum_of_virtual_workers_is_checked_in_every_epoch) {
  BOOST_TEST(error_of("--local 4,2,3 --virtual-workers 8 --vsw 2,4,3 --accum 0 --epochs 3") ==
             "--vsw, --accum: epoch 3 has Σ V·(A+1) = 9 virtual workers, but the run has 8; "
             "nothing was started");
  BOOST_TEST(error_of("--local 2 --virtual-workers 8 --vsw 2:3:3") ==
             "--vsw: epoch 1 lists 3 workers but has 2; accepted are one value for all or one per "
             "worker; nothing was "
             "started");
  BOOST_TEST(error_of("--local 4 --virtual-workers 2") ==
             "--virtual-workers=2: epoch 1 has 4 workers and each needs at least one; nothing was "
             "started");
}

BOOST_AUTO_TEST_CASE(defaults_follow_the_optimizer) {
  const TrainingSpec adam = parse("--local 1 --optimizer adam").spec;
  BOOST_TEST(adam.lr == 0.001);
  BOOST_TEST(adam.weight_decay == 0);
  BOOST_TEST(adam.epsilon == 1e-8);
  BOOST_TEST(parse("--local 1 --optimizer adamw").spec.weight_decay == 0.01);
  const TrainingSpec lamb = parse("--local 1 --optimizer lamb").spec;
  BOOST_TEST(lamb.epsilon == 1e-6);
  BOOST_TEST(lamb.weight_decay == 0.01);
  const TrainingSpec given =
      parse(
          "--local 1 --optimizer adamw --lr 0.5 --betas 0.8,0.95 --eps 1e-4 --weight-decay 0 "
          "--decay-all")
          .spec;
  BOOST_TEST(given.lr == 0.5);
  BOOST_TEST(given.beta1 == 0.8);
  BOOST_TEST(given.beta2 == 0.95);
  BOOST_TEST(given.epsilon == 1e-4);
  BOOST_TEST(given.weight_decay == 0);
  BOOST_TEST(given.decay_all);
  BOOST_TEST(parse("--local 1 --nesterov --weight-decay 1e-4").spec.nesterov);
}

BOOST_AUTO_TEST_CASE(the_model_brings_its_data_set) {
  const TrainingSpec gpt = parse("--local 1 --model gpt --layers 2 --width 64 --dropout 0").spec;
  BOOST_TEST(gpt.dataset == "text");
  BOOST_TEST(gpt.layers == 2);
  BOOST_TEST(gpt.width == 64);
  BOOST_TEST(gpt.heads == 4);
  BOOST_TEST(gpt.dropout == 0);
  BOOST_TEST(gpt.sequence_length == 64);
  BOOST_TEST(parse("--local 1 --model mlp").spec.dataset == "fashion-mnist");
  BOOST_TEST(parse("--local 1 --model vit").spec.dataset == "fashion-mnist");
  BOOST_TEST(parse("--local 1 --model dlrm").spec.dataset == "synthetic");
  BOOST_TEST(parse("--local 1 --model unet").spec.dataset == "synthetic");
  BOOST_TEST(parse("--local 1 --model cnn --dataset synthetic").spec.dataset == "synthetic");
}

BOOST_AUTO_TEST_CASE(sizes_are_by_default_those_of_the_model) {
  const TrainingSpec vit = parse("--local 1 --model vit --heads 8").spec;
  BOOST_TEST(vit.layers == 6);
  BOOST_TEST(vit.width == 128);
  BOOST_TEST(vit.heads == 8);
  BOOST_TEST(vit.dropout == 0.1);
  BOOST_TEST(vit.patch_size == 4);
  const TrainingSpec resnet = parse("--local 1 --model resnet18").spec;
  BOOST_TEST(resnet.width == 64);
  BOOST_TEST(resnet.layers == 0);
  BOOST_TEST(parse("--local 1").spec.width == 0);
}

BOOST_AUTO_TEST_CASE(a_file_can_be_model_or_data_set) {
  const TrainingSpec script =
      parse("--local 1 --model /m/../n/net.pt --dataset text --loss own").spec;
  BOOST_TEST(script.model == "/n/net.pt");
  BOOST_TEST(script.loss == "own");
  const TrainingSpec plugin =
      parse("--local 1 --model /m/my.so --dataset /m/my.so --plugin-options 42").spec;
  BOOST_TEST(plugin.model == "/m/my.so");
  BOOST_TEST(plugin.dataset == "/m/my.so");
  BOOST_TEST(plugin.plugin_options == "42");
  BOOST_TEST(parse("--local 1 --model mlp --dataset my.so").spec.dataset.starts_with("/"));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_is_of_a_model_with_its_sizes) {
  const auto identity = [](const std::string& line) {
    TrainingSpec spec = parse(line).spec;
    spec.train_samples = 10;
    return training_identity(spec);
  };
  BOOST_TEST(identity("--local 1") ==
             "model cnn, data set fashion-mnist, 10 samples, fp32, sgd, seed 0");
  BOOST_TEST(identity("--local 1 --model gpt --dropout 0.2") ==
             "model gpt (4 layers, width 128, 4 heads, 64 bytes), data set text, 10 samples, fp32, "
             "sgd, seed 0");
  BOOST_TEST(identity("--local 1 --model vit --patch-size 7") ==
             "model vit (6 layers, width 128, 4 heads, patches of 7), data set fashion-mnist, 10 "
             "samples, fp32, sgd, seed 0");
}

BOOST_AUTO_TEST_CASE(a_schedule_takes_its_own_options) {
  const TrainingSpec step =
      parse(
          "--local 1 --epochs 4 --lr-schedule step --lr-step-epochs 1.5 --lr-gamma 0.3 "
          "--warmup-epochs 0.5")
          .spec;
  BOOST_TEST(step.lr_step_epochs == 1.5);
  BOOST_TEST(step.lr_gamma == 0.3);
  BOOST_TEST(step.warmup_epochs == 0.5);
  const TrainingSpec polynomial =
      parse("--local 1 --lr-schedule polynomial --lr-power 2 --lr-end 0.01").spec;
  BOOST_TEST(polynomial.lr_power == 2);
  BOOST_TEST(polynomial.lr_end == 0.01);
}

BOOST_AUTO_TEST_CASE(wrong_values_name_what_is_accepted) {
  const std::pair<const char*, const char*> cases[] = {
      {"--local 1 --model resnet",
       "--model=resnet: accepted are cnn, mlp, resnet18, resnet34, resnet50, vit, gpt, gnmt, dlrm "
       "and unet, a TorchScript file (.pt) and a plug-in (.so)"},
      {"--local 1 --model /m/net.pt", "--model=/m/net.pt: needs --dataset"},
      {"--local 1 --model /m/net.pt --dataset text --width 8",
       "--width: not with a file as --model"},
      {"--local 1 --model /m/net.pt --dataset synthetic",
       "--model=/m/net.pt: --dataset=synthetic needs --synthetic-kind"},
      {"--local 1 --model /m/net.pt --dataset text --loss hinge",
       "--loss=hinge: accepted are cross_entropy, mse, bce and own"},
      {"--local 1 --loss mse", "--loss: only with a TorchScript file as --model"},
      {"--local 1 --plugin-options x",
       "--plugin-options: only with a plug-in (.so) as --model or --dataset"},
      {"--local 1 --dataset text", "--dataset=text: has tokens, but model cnn reads images"},
      {"--local 1 --model gpt --dataset fashion-mnist",
       "--dataset=fashion-mnist: has images, but model gpt reads tokens"},
      {"--local 1 --model mlp --dataset text",
       "--dataset=text: has tokens, but model mlp reads images or arrays"},
      {"--local 1 --layers 2", "--layers: only with --model=vit, gpt, gnmt, dlrm and unet"},
      {"--local 1 --model gpt --patch-size 2", "--patch-size: only with --model=vit"},
      {"--local 1 --model resnet18 --heads 2", "--heads: only with --model=vit and gpt"},
      {"--local 1 --model resnet18 --dropout 0.5",
       "--dropout: only with --model=vit, gpt and gnmt"},
      {"--local 1 --model unet --layers 0", "--layers=0: accepted is a whole number in 1..1000"},
      {"--local 1 --model vit --dropout -1", "--dropout=-1: accepted is a number in 0..0.9"},
      {"--local 1 --model gpt --width 30", "--width=30: accepted is a multiple of --heads=4"},
      {"--local 1 --model gpt --sequence-length 0",
       "--sequence-length=0: accepted is a whole number in 1..65536"},
      {"--local 1 --dataset cifar",
       "--dataset=cifar: accepted are fashion-mnist, mnist, cifar10, cifar100, images, text, "
       "tokens, npy and synthetic, or a plug-in (.so)"},
      {"--local 1 --model gpt --dataset npy --data-dir x",
       "--dataset=npy: has images or masks or arrays, but model gpt reads tokens"},
      {"--local 1 --dataset cifar10", "--dataset=cifar10: needs --data-dir"},
      {"--local 1 --augment", "--augment: only with --dataset=cifar10, cifar100 and images"},
      {"--local 1 --vocabulary 9", "--vocabulary: only with --dataset=tokens and synthetic"},
      {"--local 1 --synthetic-samples 9", "--synthetic-samples: only with --dataset=synthetic"},
      {"--local 1 --dataset synthetic --synthetic-kind pictures",
       "--synthetic-kind=pictures: accepted are images, masks, tokens, pairs, clicks and arrays"},
      {"--local 1 --image-size 9", "--image-size: only with --dataset=images"},
      {"--local 1 --dataset images --data-dir x --image-size 4",
       "--image-size=4: accepted is a whole number in 8..4096"},
      {"--local 1 --model gpt --dataset tokens --data-dir x",
       "--dataset=tokens: needs --vocabulary"},
      {"--local 1 --model gpt --dataset tokens --data-dir x --vocabulary 1",
       "--vocabulary=1: accepted is a whole number in 2..4294967296"},
      {"--local 1 --model gpt --dataset tokens --data-dir x --token-type int8",
       "--token-type=int8: accepted are uint16 and uint32"},
      {"--local 1 --model gpt --skip-bad",
       "--skip-bad: only with --dataset=fashion-mnist, mnist, cifar10, cifar100, images, tokens "
       "and "
       "npy"},
      {"--local 1 --readers 65", "--readers=65: accepted is a whole number in 0..64"},
      {"--local 1 --batch-policy best",
       "--batch-policy=best: accepted are paper, similarity and goodput"},
      {"--local 1 --lr-scaling cubic",
       "--lr-scaling=cubic: accepted are sqrt, linear, adascale and none"},
      {"--local 1 --lr-schedule sine",
       "--lr-schedule=sine: accepted are constant, step, cosine and polynomial"},
      {"--local 1 --lr-schedule step", "--lr-schedule=step: needs --lr-step-epochs"},
      {"--local 1 --lr-schedule step --lr-step-epochs 0",
       "--lr-step-epochs=0: accepted is a number above 0"},
      {"--local 1 --lr-schedule cosine --lr-power 2",
       "--lr-power: only with --lr-schedule=polynomial"},
      {"--local 1 --lr-end 0.1", "--lr-end: only with --lr-schedule=cosine and polynomial"},
      {"--local 1 --epochs 3 --warmup-epochs 3.5",
       "--warmup-epochs=3.5: accepted is a number in 0..3 (--epochs)"},

      {"--local 1 --optimizer adagrad",
       "--optimizer=adagrad: accepted are sgd, adam, adamw and lamb"},
      {"--local 1 --optimizer adam --momentum 0.5", "--momentum: only with --optimizer=sgd"},
      {"--local 1 --optimizer lamb --nesterov", "--nesterov: only with --optimizer=sgd"},
      {"--local 1 --nesterov --momentum 0", "--nesterov: needs --momentum above 0"},
      {"--local 1 --eps 1e-9", "--eps: only with --optimizer=adam, adamw and lamb"},
      {"--local 1 --optimizer adam --eps 0", "--eps=0: accepted is a number in 1e-30..1"},
      {"--local 1 --optimizer adam --betas 0.9",
       "--betas=0.9: accepted is B1,B2 with two numbers in 0..1, 1 excluded"},
      {"--local 1 --optimizer adam --betas 0.9,1",
       "--betas=0.9,1: accepted is B1,B2 with two numbers in 0..1, 1 excluded"},
      {"--local 1 --optimizer adam --betas 0.9,0.99x",
       "--betas=0.9,0.99x: accepted is B1,B2 with two numbers in 0..1, 1 excluded"},
      {"--local 1 --clip-norm -1", "--clip-norm=-1: accepted is a number ≥ 0 (0 = no clipping)"},
      {"--local 1 --weight-decay -1", "--weight-decay=-1: accepted is a number ≥ 0"},
      {"--local 1 --precision fp16", "--precision=fp16: accepted are fp32 and fp64"},
      {"--local 1 --device tpu", "--device=tpu: accepted are auto, cpu, cuda and emulated"},
      {"--local 1 --device cuda",
       "--device=cuda: this jabas-run was built without CUDA; accepted are auto, cpu and emulated"},
      {"--local 1 --device emulated", "--device=emulated: needs --emulate FILE with a profile"},
      {"--local 1 --emulate /p", "--emulate=/p: only with --device=emulated"},
      {"--profile /p",
       "--profile=/p: only with --local; under Slurm it is sbatch --jabas-profile=FILE"},
      {"--local 1 --epochs 0", "--epochs=0: accepted is a whole number in 1..1000000"},
      {"--local 1 --lr nan", "--lr=nan: accepted is a number ≥ 0"},
      {"--local 0",
       "--local=0: accepted is N or N,M,… with whole numbers in 1..256 (workers in each epoch)"},
      {"--local 2,x",
       "--local=2,x: accepted is N or N,M,… with whole numbers in 1..256 (workers in each epoch)"},
      {"--local 1 --vsw 2:a",
       "--vsw=2:a: 'a' is not a whole number in 1..4096; accepted is N, or N per epoch (',') and "
       "per worker (':')"},
      {"--local 1 --batch-min 128 --batch-max 64",
       "--batch-min=128: is larger than --batch-max=64; accepted is MIN ≤ MAX"},
      {"--local 1 --batch-max 5000000", "--batch-max=5000000: accepted is at most 4194304"},
      {"--local 1 --batch-min 64 --batch-max 128 --batch-initial 256 --similarity-target 0.3",
       "--batch-initial=256: accepted is 64..128 (--batch-min to --batch-max)"},
      {"--local 1 --adaptive maybe", "--adaptive=maybe: accepted are on and off"},
      {"--local 1 --similarity-target 1",
       "--similarity-target=1.000000: accepted is a number between 0 and 1, both excluded"},
      {"--local 1 --batch-min 64 --batch-max 128 --similarity-target 0.3 --vsw 2",
       "--vsw, --accum: fix the virtual workers, so they need --adaptive=off"},
      {"--local 1 --local-batch 1",
       "--local-batch=1: model cnn has BatchNorm, which needs at least 2 samples per virtual "
       "worker"},
      {"--local 1 --model unet --local-batch 1",
       "--local-batch=1: model unet has BatchNorm, which needs at least 2 samples per virtual "
       "worker"},
      {"--local 1 --virtual-workers 4 --batch-initial 100",
       "--batch-initial=100: --local-batch × --virtual-workers is 128; give one of them"},
      {"--state /x",
       "--state=/x: only with --local; under Slurm checkpoints go to the run's state directory"},
      {"--vsw 2", "--vsw, --accum: only with --local; under Slurm the solver decides"},
      {"--jabas", "The following argument was not expected: --jabas; see jabas-run train --help"},
  };
  for (const auto& [line, expected] : cases)
    BOOST_TEST(error_of(line) == expected, line << " gives: " << error_of(line));
  BOOST_TEST(parse("--local 1 --local-batch 1 --model mlp").spec.local_batch == 1);
}

BOOST_AUTO_TEST_CASE(help_names_every_option) {
  try {
    parse("--help");
    BOOST_FAIL("no help");
  } catch (const HelpRequested& help) {
    for (const char* option : {"--local ", "--model", "--patch-size", "--similarity-target",
                               "--emulate-scale", "--ledger-out", "--betas", "--warmup-epochs"}) {
      BOOST_TEST(std::string(help.what()).find(option) != std::string::npos, option);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
