// Activities of temporal.test.ts.

export const activities = {
  greet: (name: string): Promise<string> => Promise.resolve(`hello ${name}`),
};
