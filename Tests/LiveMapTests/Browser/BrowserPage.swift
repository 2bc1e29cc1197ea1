import Foundation

/// A page in a browser.
final class BrowserPage: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let pipe: DevToolsPipe
    private let session: String
    private let context: String

    private struct Navigation: Decodable { var errorText: String? }

    private struct Evaluation<Value: Decodable>: Decodable {
        struct Object: Decodable { var value: Value? }
        struct Exception: Decodable {
            struct Object: Decodable { var description: String? }
            var text: String
            var exception: Object?
        }
        var result: Object
        var exceptionDetails: Exception?
    }

    init(pipe: DevToolsPipe, session: String, context: String) {
        (self.pipe, self.session, self.context) = (pipe, session, context)
    }

    /// Sends a command of the protocol to the page.
    func send(_ method: String, _ parameters: DevToolsValue = [:]) throws {
        try pipe.send(method, parameters, session: session)
    }

    /// Sends a command of the protocol to the page, and returns its result.
    func send<Result: Decodable>(
        _ method: String, _ parameters: DevToolsValue = [:], as type: Result.Type
    ) throws -> Result {
        try pipe.send(method, parameters, session: session, as: type)
    }

    /// Loads a document, and returns after its `load` event.
    func open(_ url: String) throws {
        let start = pipe.events(of: session).count
        let navigation = try send("Page.navigate", ["url": .string(url)], as: Navigation.self)
        if let reason = navigation.errorText { throw Failure(description: "\(url) did not load: \(reason)") }
        try pipe.waitForEvent("Page.loadEventFired", of: session, from: start)
    }

    /// Closes the page, and deletes its cookies and its storage.
    func close() { try? pipe.send("Target.disposeBrowserContext", ["browserContextId": .string(context)]) }

    /// Returns the value of a JavaScript expression; of a promise, its later value.
    func evaluate<Value: Decodable>(_ expression: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = try evaluation(of: expression, as: type) else {
            throw Failure(description: "\(expression) is undefined.")
        }
        return value
    }

    /// Runs JavaScript; waits for the end of a promise.
    func run(_ script: String) throws {
        _ = try evaluation(of: "(async () => { \(script) })().then(() => true)", as: Bool.self)
    }

    /// Waits until a JavaScript expression is true; an expression that throws isn't.
    func wait(until expression: String) throws {
        let seconds = DevToolsPipe.bound - 20
        // The page itself evaluates the expression again and again: at each turn of its timers, not of the test's.
        let isTrue = try evaluate(
            """
            new Promise((resolve) => {
                const end = performance.now() + \(Int(seconds * 1000));
                const step = () => {
                    let isTrue = false;
                    try { isTrue = Boolean(\(expression)); } catch {}
                    if (isTrue || performance.now() > end) { resolve(isTrue); } else { setTimeout(step, 10); }
                };
                step();
            })
            """, as: Bool.self)
        if !isTrue {
            throw Failure(
                description: "\(expression) did not become true within \(Int(seconds)) s; the page reports \(problems)")
        }
    }

    /// The exceptions, errors, warnings and violations of the content security policy that the page has reported.
    var problems: [String] {
        pipe.events(of: session).compactMap { event in
            guard let problem = try? JSONDecoder().decode(ReportedProblem.self, from: event.message) else { return nil }
            return problem.description
        }
    }

    private func evaluation<Value: Decodable>(of expression: String, as type: Value.Type) throws -> Value? {
        let evaluation = try send(
            "Runtime.evaluate",
            ["expression": .string(expression), "returnByValue": true, "awaitPromise": true, "userGesture": true],
            as: Evaluation<Value>.self)
        if let exception = evaluation.exceptionDetails {
            throw Failure(description: "\(expression): \(exception.exception?.description ?? exception.text)")
        }
        return evaluation.result.value
    }
}
