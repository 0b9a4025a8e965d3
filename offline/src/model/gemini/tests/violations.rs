//! Requests that Gemini would not take: each is refused in its words, and kept.

use super::*;

/// Each of these changes, by its place, makes a request that is refused with these words.
async fn refused(bed: &Bed, cases: &[(&str, Value, &str)]) {
    for (pointer, value, wanted) in cases {
        let response = stream(bed, OLD, &changed(body(), pointer, value.clone())).await;
        assert_eq!(response.status(), 400, "{pointer} {wanted}");
        let error = response.json::<Value>().await.unwrap()["error"].clone();
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(wanted), "{pointer} {wanted}: {told}");
        assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
    }
    assert_eq!(bed.model.violations().len(), cases.len());
}

#[tokio::test]
async fn each_violation_of_a_conversation_is_told_and_kept() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    let text = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let call = json!({"functionCall": {"name": "v", "args": {}}});
    let cases = [
        ("/prompt", json!("x"), "Unknown name \"prompt\": Cannot find field."),
        ("/contents", json!([]), "contents is not specified"),
        ("/contents/0/role", json!("assistant"), "Please use a valid role: user, model."),
        ("/contents/0/parts", json!([]), "parts must not be empty"),
        ("/contents/0/parts/0", json!({}), "required oneof field 'data'"),
        ("/contents/0/parts/0", json!({"text": ""}), "empty text parameter"),
        (
            "/contents/0/parts/0/inlineData",
            json!({"mimeType": "image/png", "data": "AAAA"}),
            "is already set",
        ),
        ("/contents/0/parts/0/type", json!("text"), "Unknown name \"type\" at 'contents[0].parts[0]'"),
        ("/contents/0/parts/1/inlineData/mimeType", json!("image/gif"), "Unsupported MIME type: image/gif"),
        ("/contents/0/parts/1/inlineData/data", json!("no base64"), "(TYPE_BYTES)"),
        ("/contents/1/role", json!("user"), "stands in a turn of the right role"),
        ("/contents/0", json!({"role": "model", "parts": [{"text": "x"}]}), "immediately after a user turn"),
        ("/contents/1/parts/-", call, "number of function response parts is equal"),
        ("/contents/2", text("x"), "number of function response parts is equal"),
        (
            "/contents/1",
            json!({"role": "model", "parts": [{"text": "x"}]}),
            "comes immediately after a function call turn",
        ),
        ("/contents/2/parts/0/functionResponse/name", json!("u"), "does not match functionCall.id"),
        ("/contents/2/parts/0/functionResponse/id", json!("1"), "does not match functionCall.id"),
        ("/contents/2/parts/0/functionResponse/response", json!(["x"]), "cannot start list"),
        ("/contents/-", json!({"role": "model", "parts": [{"text": "x"}]}), "end with a user turn"),
        ("/systemInstruction", json!("Be brief."), "Invalid value at 'systemInstruction'"),
    ];
    refused(&bed, &cases).await;
    bed.end().await;
}

#[tokio::test]
async fn each_violation_of_tools_and_settings_is_told_and_kept() {
    let bed = Bed::new(ReplyScript::new().otherwise(ModelReply::text("ok"))).await;
    let (declaration, parameters) =
        ("/tools/0/functionDeclarations/0", "/tools/0/functionDeclarations/0/parameters");
    let property = "/tools/0/functionDeclarations/0/parameters/properties/a";
    let free = |schema: Value| json!({"name": "t", "description": "d", "parametersJsonSchema": schema});
    let both = changed(declared("t"), "/parametersJsonSchema", json!({"type": "object"}));
    let closed = changed(declared("t"), "/parameters/additionalProperties", json!(false));
    let cases = [
        ("/tools/0/functionDeclarations/0/name", json!("1t"), "Must start with a letter or an underscore"),
        ("/tools/0/functionDeclarations/0/name", json!("u"), "Duplicate function declaration found: u"),
        ("/tools/-", json!({"googleSearch": null}), "required one_of 'tool_type'"),
        ("/tools/-", json!({"codeExecution": {}}), "Unknown name \"codeExecution\""),
        (declaration, both, "mutually exclusive"),
        (declaration, closed, "Unknown name \"additionalProperties\""),
        (declaration, free(json!({"properties": {}})), "must have type 'object'"),
        (
            declaration,
            free(json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}})),
            "leads nowhere",
        ),
        (parameters, json!({"type": "string"}), "of the type OBJECT"),
        (
            "/tools/0/functionDeclarations/0/parameters/properties",
            json!({}),
            "should be non-empty for OBJECT type",
        ),
        (
            "/tools/0/functionDeclarations/0/parameters/required",
            json!(["b"]),
            "required[0]: property is not defined",
        ),
        (property, json!({"type": "array"}), "items: missing field."),
        (property, json!({"type": "integer", "enum": ["1"]}), "only allowed for STRING type"),
        (property, json!({"type": "string", "format": "uri"}), "only enum and date-time are supported"),
        (property, json!({"description": "x"}), "type: must be specified"),
        (property, json!({"$ref": "#/$defs/a"}), "Unknown name \"$ref\""),
        ("/toolConfig", json!({"functionCallingConfig": {"mode": "auto"}}), "(TYPE_ENUM), \"auto\""),
        (
            "/toolConfig",
            json!({"functionCallingConfig": {"allowedFunctionNames": ["t"]}}),
            "only when function calling mode",
        ),
        ("/generationConfig/temperature", json!(3), "temperature must be a number between 0 and 2"),
        ("/generationConfig/frequencyPenalty", json!(0.5), "Penalty is not enabled for this model"),
        ("/generationConfig/maxOutputTokens", json!(0), "must be positive"),
        ("/generationConfig/responseSchema", json!({"type": "object"}), "must be application/json"),
        ("/generationConfig/thinkingConfig", json!({"thinkingLevel": "LOW"}), "not supported for this model"),
        ("/generationConfig/max_tokens", json!(5), "Unknown name \"max_tokens\" at 'generationConfig'"),
    ];
    refused(&bed, &cases).await;
    bed.end().await;
}
