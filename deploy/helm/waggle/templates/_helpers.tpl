{{- define "waggle.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "waggle.labels" -}}
app.kubernetes.io/name: waggle
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "waggle.pod" -}}
automountServiceAccountToken: false
# A Service named `waggle` would set WAGGLE_PORT, a setting, to the address of the Service.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /* YAML reads a setting's `on` as true, and Helm prints 128000000 of a file as 1.28e+08. */}}
{{- define "waggle.setting" -}}
{{- if and (kindIs "float64" .value) (eq .value (floor .value)) }}{{ int64 .value }}
{{- else if and (kindIs "bool" .value) (regexMatch "^(WAGGLE|TEMPORAL)_" .name) }}
{{- ternary "on" "off" .value }}
{{- else }}{{ .value }}
{{- end }}
{{- end }}

{{- define "waggle.metricsPort" -}}
{{ int (get .Values.environment "WAGGLE_OPERATOR_PORT" | default 9464) }}
{{- end }}

{{- define "waggle.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
envFrom:
  - secretRef: { name: {{ .Values.secretName }} }
env:
  - { name: TEMPORAL_ADDRESS, value: {{ .Values.temporal.address | quote }} }
  - { name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
  {{- with .Values.temporal.uiUrl }}
  - { name: WAGGLE_TEMPORAL_UI_URL, value: {{ . | quote }} }
  {{- end }}
  {{- with .Values.publicUrl }}
  - { name: WAGGLE_PUBLIC_URL, value: {{ . | quote }} }
  {{- end }}
  {{- range $name, $value := .Values.environment }}
  - { name: {{ $name }}, value: {{ include "waggle.setting" (dict "name" $name "value" $value) | quote }} }
  {{- end }}
{{- end }}
