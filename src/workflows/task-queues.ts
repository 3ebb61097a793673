// Names of the task queues. Without side effects, because workflows import this file.

/** Task queue of all workflows and of all activities except evaluations. */
export const taskQueue = "waggle";

/** Task queue of evaluations, separate so that many of them delay no other work. */
export const evaluationTaskQueue = "waggle-evaluations";
