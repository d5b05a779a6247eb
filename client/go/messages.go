package lockstitch

import "github.com/lockstitch/lockstitch/client/go/lockstitchv1"

// User is a message of the person, or of whoever the agent serves.
func User(text string) *lockstitchv1.Message {
	return ofRole(lockstitchv1.Role_ROLE_USER, Text(text))
}

// Assistant is a message of the model: its text, and the tool calls that it asks for.
func Assistant(text string, calls ...*lockstitchv1.Part) *lockstitchv1.Message {
	return ofRole(lockstitchv1.Role_ROLE_ASSISTANT, append([]*lockstitchv1.Part{Text(text)}, calls...)...)
}

// ToolResult is a message that ends a tool call with what the tool gave back, as JSON text.
func ToolResult(callID, json string) *lockstitchv1.Message {
	output := &lockstitchv1.ToolResultPart_Json{Json: json}
	result := &lockstitchv1.ToolResultPart{CallId: callID, Output: output}
	message := ofRole(lockstitchv1.Role_ROLE_TOOL, &lockstitchv1.Part{Content: &lockstitchv1.Part_ToolResult{ToolResult: result}})
	message.CallId = callID
	return message
}

// Text is a part that holds text. The empty text is a value.
func Text(text string) *lockstitchv1.Part {
	return &lockstitchv1.Part{Content: &lockstitchv1.Part_Text{Text: text}}
}

// ToolCall is a part that asks for a tool, with its arguments as JSON text.
func ToolCall(callID, name, argumentsJSON string) *lockstitchv1.Part {
	call := &lockstitchv1.ToolCallPart{CallId: callID, Name: name, ArgumentsJson: argumentsJSON}
	return &lockstitchv1.Part{Content: &lockstitchv1.Part_ToolCall{ToolCall: call}}
}

// MergePatch is a change of memory: a JSON merge patch, in which null deletes.
func MergePatch(json string) *lockstitchv1.MemoryChange {
	return &lockstitchv1.MemoryChange{Change: &lockstitchv1.MemoryChange_MergePatchJson{MergePatchJson: json}}
}

func ofRole(role lockstitchv1.Role, parts ...*lockstitchv1.Part) *lockstitchv1.Message {
	return &lockstitchv1.Message{Role: role, Parts: parts}
}
