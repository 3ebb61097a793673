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
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
{{- end }}
