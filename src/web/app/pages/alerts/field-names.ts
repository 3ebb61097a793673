// Faults of an alert in the words of its form: the service names fields as the API does.

import { ApiError } from "../../api/errors.ts";

/** Labels of the form by the first part of the field. */
const labels: Readonly<Record<string, string>> = {
  name: "Name",
  alert_type: "Kind",
  aggregation: "Aggregation",
  projections: "Measure",
  filters: "Filters",
  frequency: "How often",
  thresholds: "Threshold",
  minimum_sample_size: "Events at least",
  notification_details: "Address",
};

/** Returns the error with the label in place of the field at the start of its message. */
export function inWordsOfForm(error: ApiError): ApiError {
  const [, field = "", rest = ""] = /^([a-z_]+)[^:\s]*(: .*)$/s.exec(error.message) ?? [];
  const label = labels[field];
  if (label === undefined) return error;
  const { errorCode, isTransient } = error;
  return new ApiError(label + rest, { errorCode, isTransient, cause: error });
}
