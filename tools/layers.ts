/** The rules of which folder may import which, with reasons; test/architecture.test.ts enforces them. */

export type Layer = {
  readonly name: string;
  readonly holds: RegExp;
  /** Besides itself. */
  readonly mayUse: readonly string[];
  readonly why: string;
};

const GRAPH = ["text", "graph/dag", "the task graph"];
const BELOW_JOBS = [...GRAPH, "core", "ports", "prompting", "delegation", "planning", "subtasks"];
const BELOW_APP = [...BELOW_JOBS, "jobs", "engine", "config"];
const BELOW_SURFACES = [...BELOW_APP, "app"];

/** A file belongs to the first layer that matches it. */
export const LAYERS: readonly Layer[] = [
  {
    name: "text",
    holds: /^src\/text\//,
    mayUse: [],
    why: "it knows nothing of runs: words and characters only",
  },
  {
    name: "graph/dag",
    holds: /^src\/graph\/dag\.ts$/,
    mayUse: ["the dag's parts"],
    why: "it is the bottom: the run's state and TaskGraph both stand on it",
  },
  {
    name: "the task graph",
    holds: /^src\/graph\/(?:task-|execution|graph-events|planned-task)/,
    mayUse: ["graph/dag", "the dag's parts"],
    why: "library users take it without the engine",
  },
  {
    name: "the dag's parts",
    holds: /^src\/graph\//,
    mayUse: [],
    why: "only dag.ts is their door",
  },
  {
    name: "core",
    holds: /^src\/core\//,
    mayUse: ["text", "graph/dag"],
    why: "judgement is pure: what comes from the world comes as an argument",
  },
  {
    name: "ports",
    holds: /^src\/ports\//,
    mayUse: ["text", "core", "graph/dag"],
    why: "a port says what the core needs of the world, not who provides it",
  },
  {
    name: "adapters",
    holds: /^src\/adapters\//,
    mayUse: ["text", "ports", "core", "prompting"],
    why: "an adapter translates one port and nothing else",
  },
  {
    name: "prompting",
    holds: /^src\/prompting\//,
    mayUse: ["text", "ports", "core"],
    why: "what agents are told is words made from data; several agents say the same",
  },
  ...["delegation", "planning", "subtasks"].map((name) => ({
    name,
    holds: new RegExp(`^src/${name}/`),
    // A plan chooses specialists by the same rule as a run.
    mayUse: [...GRAPH, "core", "ports", ...(name === "planning" ? ["delegation"] : [])],
    why: "each of delegation, planning and subtasks can be used without those that come after it",
  })),
  {
    name: "jobs",
    holds: /^src\/jobs\//,
    mayUse: BELOW_JOBS,
    why: "a job knows its brief and its ports, so that it runs on another machine as well",
  },
  {
    name: "engine",
    holds: /^src\/engine\//,
    mayUse: [...BELOW_JOBS, "jobs"],
    why: "the loop must not know which adapters it runs on, nor who watches",
  },
  {
    name: "app",
    holds: /^src\/app\//,
    mayUse: BELOW_APP,
    why: "a use case works over ports, so that every surface shares it and a test can play the machine",
  },
  {
    name: "simulation",
    holds: /^src\/simulation\//,
    mayUse: ["text", "graph/dag", "core", "ports", "planning", "adapters", "jobs", "engine"],
    why: "it is the real core and engine in a made-up world",
  },
  {
    name: "library",
    holds: /^src\/surfaces\/library\//,
    mayUse: [...BELOW_SURFACES, "compose"],
    why: "it is the surface for programs, which index.ts hands on, and loads nothing of the other surfaces",
  },
  {
    name: "the web page",
    holds: /^src\/surfaces\/web\//,
    mayUse: ["text", "graph/dag", "core"],
    why: "it runs in a browser: it folds the log with the same code as everybody, and has nothing else",
  },
  {
    name: "surfaces",
    holds: /^src\/surfaces\//,
    mayUse: [...BELOW_SURFACES, "simulation", "compose"],
    why: "a surface follows events and sends commands; only compose names adapters",
  },
  {
    name: "config",
    holds: /^src\/config\//,
    mayUse: ["text", "core", "ports"],
    why: "configuration is parsed into the policy's types",
  },
  {
    name: "compose",
    holds: /^src\/compose\//,
    mayUse: [...BELOW_SURFACES, "adapters", "simulation"],
    why: "it puts the parts together and is used by the surfaces",
  },
  {
    name: "index.ts",
    holds: /^src\/index\.ts$/,
    mayUse: [...BELOW_SURFACES, "simulation", "compose", "library"],
    why: "library users get the parts; only compose names adapters",
  },
];

/** Folders that must also run without Node. */
export const WITHOUT_NODE = /^src\/(?:text|core|graph|surfaces\/web)\//;

/** Files that are started, or imported by the package's name: their exports need no user within the project. */
export const ENTRIES =
  /^src\/(?:index|surfaces\/cli\/main|surfaces\/library\/(?:graph|planning|subtasks))\.ts$/;

/** The most lines of a file that is easy to understand. */
export const MAX_LINES = 400;

export const layerOf = (file: string): Layer | undefined => LAYERS.find(({ holds }) => holds.test(file));
