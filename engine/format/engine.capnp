# The structured sections of an engine file (README.md beside this file has the grammar around them).
# Evolution: add fields at the end, never renumber, never reuse a number.
@0xb1d6a5f0c3e94721;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::file");

struct Fact { key @0 :Text; value @1 :Text; }

struct Shape { name @0 :Text; type @1 :Text; dims @2 :List(Int64); }

struct Manifest {
  name @0 :Text;
  sku @1 :Text;
  kind @2 :Text;                # cpu or cuda
  precisions @3 :List(Text);
  threads @4 :Int32;
  level @5 :Int32;
  provisional @6 :Bool;         # choices by the analytic model: nothing was measured
  modelDigest @7 :Text;
  structureDigest @8 :Text;
  optionsText @9 :Text;         # canonical build options
  builder @10 :Text;            # "enginery 0.1.0"
  software @11 :List(Fact);     # library versions that the tactics depend on
  inputs @12 :List(Shape);
  outputs @13 :List(Shape);
  portability @14 :Text;        # exact, same-cc, ptx
  runTimeSizes @15 :List(RunTimeSize);
}

# Dimension `axis` of output `output` is known after a run: the value of output `count`.
struct RunTimeSize { output @0 :UInt32; axis @1 :UInt32; count @2 :UInt32; }

struct TensorDesc {
  type @0 :Text;
  dims @1 :List(Int64);
  present @2 :Bool;
  constant @3 :Bool;
  value @4 :List(Int64);        # integer constants that select code
  hasValue @5 :Bool;
  pinned @6 :Text;              # "" or a format
  valueDims @7 :List(Int64);
}

struct EpilogueStep {
  kind @0 :Text;                # bias, activation, add, multiply; then: an operator of a region
  activation @1 :Text;          # attributes of `act`; of `then` "pool(r0) kernel=[2,2] ..." (tactics/region.h)
  operand @2 :Int32;
}

struct Problem {
  op @0 :Text;
  attributes @1 :List(Fact);
  anchorInputs @2 :Int32;
  inputs @3 :List(TensorDesc);
  outputs @4 :List(TensorDesc);
  epilogue @5 :List(EpilogueStep);
}

struct Tactic {
  source @0 :Text;
  id @1 :Text;
  inputs @2 :List(Text);        # formats
  outputs @3 :List(Text);
  compute @4 :Text;
  workspaceBytes @5 :Int64;
  deterministic @6 :Bool;
  inPlaceOperand @7 :Int32;
  viewOf @8 :Int32;
  codeIndex @9 :Int32;          # into Plan.code, -1 = none
}

struct Step {
  name @0 :Text;
  problem @1 :Problem;
  tactic @2 :Tactic;
  inputs @3 :List(Int32);
  constants @4 :List(Int32);
  outputs @5 :List(Int32);
  workspace @6 :Int32;
  stream @7 :UInt8;
}

struct Tensor {
  name @0 :Text;
  type @1 :Text;
  dims @2 :List(Int64);
  format @3 :Text;
  storage @4 :Int32;
  slice @5 :UInt32;             # where it begins in its storage, in units of 16 bytes; in the word of `storage`
}

struct Storage { kind @0 :UInt8; bytes @1 :Int64; offset @2 :Int64; firstStep @3 :Int32; lastStep @4 :Int32; }

struct Constant { name @0 :Text; type @1 :Text; dims @2 :List(Int64); offset @3 :Int64; }  # offset in the weights section

struct Range { offset @0 :Int64; size @1 :Int64; }

struct Plan {
  tensors @0 :List(Tensor);
  storages @1 :List(Storage);
  steps @2 :List(Step);
  constants @3 :List(Constant);
  inputs @4 :List(Int32);
  outputs @5 :List(Int32);
  arenaBytes @6 :Int64;
  code @7 :List(Range);         # in the code section
}

# Everything that differs between two builds of the same choices: measured times, places and dates.
struct Provenance {
  facts @0 :List(Fact);                 # worker, host, device name, started, finished, job, timings_measured, ...
  stepMicroseconds @1 :List(Float64);   # per step of the plan, as measured
  medianUs @2 :Float64;                 # the whole engine
  hardware @3 :List(Fact);              # the device that measured
}
