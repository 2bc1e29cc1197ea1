import Foundation
import Synchronization

/// A page in a browser.
final class BrowserPage: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let pipe: DevToolsPipe
    private let session: String
    private let target: String
    /// The context of this page alone; nil in the browser's window.
    private let context: String?
    private let whenEmptied: @Sendable () -> Void
    /// The origins of the opened documents.
    private let origins = Mutex<Set<String>>([])

    private struct Navigation: Decodable {
        var errorText: String?
        /// The number of the document; nil if the page stays in the one that it has.
        var loaderId: String?
    }

    /// The event of a document that has replaced the one before.
    private struct Replacement: Decodable {
        struct Parameters: Decodable { var frame: Frame }
        struct Frame: Decodable { var loaderId: String }
        var params: Parameters
    }

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

    /// - Parameter whenEmptied: is called when a page of the browser's window has left no cookie and no storage.
    init(
        pipe: DevToolsPipe, session: String, target: String, context: String?,
        whenEmptied: @escaping @Sendable () -> Void
    ) {
        (self.pipe, self.session, self.target, self.context) = (pipe, session, target, context)
        self.whenEmptied = whenEmptied
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
        if let address = URL(string: url), let scheme = address.scheme, scheme != "data" {
            let host = address.host ?? ""
            origins.withLock { _ = $0.insert("\(scheme)://\(host)\(address.port.map { ":\($0)" } ?? "")") }
        }
        let start = pipe.events(of: session).count
        let navigation = try send("Page.navigate", ["url": .string(url)], as: Navigation.self)
        if let reason = navigation.errorText { throw Failure(description: "\(url) did not load: \(reason)") }
        // The empty page and one that did not load have load events as well, which can still arrive now.
        var first = start
        if let loader = navigation.loaderId {
            first = try pipe.waitForEvent("Page.frameNavigated", of: session, from: start) { event in
                (try? JSONDecoder().decode(Replacement.self, from: event.message))?.params.frame.loaderId == loader
            }
        }
        try pipe.waitForEvent("Page.loadEventFired", of: session, from: first)
    }

    /// Closes the page, and deletes its cookies and its storage.
    func close() {
        if let context {
            try? pipe.send("Target.disposeBrowserContext", ["browserContextId": .string(context)])
        } else {
            // Without success, the next page gets a context.
            try? empty()
        }
    }

    private func empty() throws {
        for origin in origins.withLock(\.self) {
            // All files share one origin, which the protocol has no name for.
            if origin.hasPrefix("file:") {
                try run("localStorage.clear()")
                continue
            }
            try send("Storage.clearDataForOrigin", ["origin": .string(origin), "storageTypes": "all"])
        }
        try send("Network.clearBrowserCookies")
        try send("Network.clearBrowserCache")
        try pipe.send("Target.closeTarget", ["targetId": .string(target)])
        whenEmptied()
    }

    /// Returns the value of a JavaScript expression; of a promise, its later value.
    func evaluate<Value: Decodable>(_ expression: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = try evaluation(of: expression, as: type) else {
            throw Failure(description: "\(expression) is undefined.")
        }
        return value
    }

    /// Stops the clocks with which the page measures how long ago a person tapped, for a test whose time is simulated.
    func stopClock() throws {
        try run(
            """
            const stopped = performance.now(), date = Date.now();
            performance.now = () => stopped;
            Date.now = () => date;
            """)
    }

    /// Runs JavaScript; waits for the end of a promise.
    func run(_ script: String) throws {
        _ = try evaluation(of: "(async () => { \(script) })().then(() => true)", as: Bool.self)
    }

    /// Waits until a JavaScript expression is true; an expression that throws isn't.
    func wait(until expression: String) throws {
        let seconds = DevToolsPipe.bound - 20
        // The page itself evaluates the expression again and again: at each turn of its timers, not of the test's. A test
        // can have replaced `Date.now`.
        let isTrue = try evaluate(
            """
            new Promise((resolve) => {
                const end = new Date().getTime() + \(Int(seconds * 1000));
                const step = () => {
                    let isTrue = false;
                    try { isTrue = Boolean(\(expression)); } catch {}
                    if (isTrue || new Date().getTime() > end) { resolve(isTrue); } else { setTimeout(step, 10); }
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

/// Input as a user gives it.
extension BrowserPage {
    /// A key of the keyboard.
    struct Key {
        /// `key` and `code` of the events; `virtualCode` is the number on Windows, which Chromium uses for its defaults.
        var name: String
        var code: String
        var virtualCode: Int
        /// The text that the key enters; empty without one.
        var text = ""

        static let space = Key(name: " ", code: "Space", virtualCode: 32, text: " ")
        static let enter = Key(name: "Enter", code: "Enter", virtualCode: 13, text: "\r")
        static let tab = Key(name: "Tab", code: "Tab", virtualCode: 9)
        static let escape = Key(name: "Escape", code: "Escape", virtualCode: 27)
        static let left = Key(name: "ArrowLeft", code: "ArrowLeft", virtualCode: 37)
        static let up = Key(name: "ArrowUp", code: "ArrowUp", virtualCode: 38)
        static let right = Key(name: "ArrowRight", code: "ArrowRight", virtualCode: 39)
        static let down = Key(name: "ArrowDown", code: "ArrowDown", virtualCode: 40)
        static let home = Key(name: "Home", code: "Home", virtualCode: 36)
        static let end = Key(name: "End", code: "End", virtualCode: 35)
        static let delete = Key(name: "Delete", code: "Delete", virtualCode: 46)

        /// The key of a character such as "a", "1" or "+".
        static func character(_ character: Character) -> Key {
            let upper = character.uppercased()
            let code = character.isLetter ? "Key\(upper)" : character.isNumber ? "Digit\(character)" : ""
            let number = character.isLetter || character.isNumber ? Int(upper.unicodeScalars.first?.value ?? 0) : 0
            return Key(name: String(character), code: code, virtualCode: number, text: String(character))
        }
    }

    /// The keys that are held while another one is pressed, or the mouse is used.
    struct Modifiers: OptionSet {
        let rawValue: Int
        static let control = Modifiers(rawValue: 2)
        static let shift = Modifiers(rawValue: 8)
    }

    /// Presses and releases a key.
    func press(_ key: Key, holding modifiers: Modifiers = []) throws {
        var event: [String: DevToolsValue] = [
            "type": key.text.isEmpty ? "rawKeyDown" : "keyDown", "key": .string(key.name), "code": .string(key.code),
            "windowsVirtualKeyCode": .number(Double(key.virtualCode)),
            "modifiers": .number(Double(modifiers.rawValue)),
        ]
        if !key.text.isEmpty { event["text"] = .string(key.text) }
        try send("Input.dispatchKeyEvent", .object(event))
        event["type"] = "keyUp"
        event["text"] = nil
        try send("Input.dispatchKeyEvent", .object(event))
    }

    /// Clicks with the left button at a point in CSS pixels of the viewport.
    func click(x: Double, y: Double, holding modifiers: Modifiers = []) throws {
        try mouse("mouseMoved", x: x, y: y, holding: modifiers)
        try mouse("mousePressed", x: x, y: y, holding: modifiers)
        try mouse("mouseReleased", x: x, y: y, holding: modifiers)
    }

    /// Moves the mouse with the left button pressed.
    func drag(from start: (x: Double, y: Double), to end: (x: Double, y: Double)) throws {
        try mouse("mouseMoved", x: start.x, y: start.y)
        try mouse("mousePressed", x: start.x, y: start.y)
        for step in 1...4 {
            let part = Double(step) / 4
            try mouse(
                "mouseMoved", x: start.x + part * (end.x - start.x), y: start.y + part * (end.y - start.y), buttons: 1)
        }
        try mouse("mouseReleased", x: end.x, y: end.y)
    }

    /// Turns the wheel of the mouse; a positive `delta` scrolls down.
    func wheel(x: Double, y: Double, delta: Double) throws {
        try send(
            "Input.dispatchMouseEvent",
            ["type": "mouseWheel", "x": .number(x), "y": .number(y), "deltaX": 0, "deltaY": .number(delta)])
    }

    /// Moves fingers over the screen.
    ///
    /// - Parameter steps: the points of all fingers in CSS pixels, from the first touch to the last.
    func touch(_ steps: [[(x: Double, y: Double)]]) throws {
        for (index, points) in steps.enumerated() {
            try send(
                "Input.dispatchTouchEvent",
                [
                    "type": index == 0 ? "touchStart" : "touchMove",
                    "touchPoints": .array(
                        points.enumerated().map { finger, point in
                            ["x": .number(point.x), "y": .number(point.y), "id": .number(Double(finger))]
                        }),
                ])
        }
        try send("Input.dispatchTouchEvent", ["type": "touchEnd", "touchPoints": []])
    }

    private func mouse(
        _ type: String, x: Double, y: Double, buttons: Double = 0, holding modifiers: Modifiers = []
    ) throws {
        let isMove = type == "mouseMoved"
        try send(
            "Input.dispatchMouseEvent",
            [
                "type": .string(type), "x": .number(x), "y": .number(y),
                "button": isMove && buttons == 0 ? "none" : "left", "buttons": .number(isMove ? buttons : 1),
                "clickCount": isMove ? 0 : 1, "modifiers": .number(Double(modifiers.rawValue)),
            ])
    }
}

/// The device and the network that the browser imitates, and what its screen shows.
extension BrowserPage {
    /// The settings of the user's system that a page can query.
    struct Preferences {
        var isDark = false
        var reducesMotion = false
    }

    private struct Capture: Decodable { var data: Data }

    /// Sets the size of the viewport.
    ///
    /// - Parameters:
    ///   - width: CSS pixels.
    ///   - height: CSS pixels.
    ///   - scale: device pixels in a CSS pixel.
    ///   - isTouch: whether the device has a touchscreen, as a telephone has.
    func setViewport(width: Int, height: Int, scale: Double = 1, isTouch: Bool = false) throws {
        try send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": .number(scale),
                "mobile": .bool(isTouch),
            ])
        try send("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isTouch)])
        // The page has its new layout after the next frame.
        try run("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    }

    /// Sets the preferences of the user.
    func setPreferences(_ preferences: Preferences) throws {
        try send(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": preferences.isDark ? "dark" : "light"],
                    [
                        "name": "prefers-reduced-motion",
                        "value": preferences.reducesMotion ? "reduce" : "no-preference",
                    ],
                ]
            ])
    }

    /// Disconnects the page from the network, or connects it again.
    func setOffline(_ isOffline: Bool) throws {
        try send(
            "Network.emulateNetworkConditions",
            ["offline": .bool(isOffline), "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1])
    }

    /// Returns a PNG image of the viewport.
    func screenshot() throws -> Data {
        // A fast compression.
        try pngCapture(["format": "png", "optimizeForSpeed": true])
    }

    /// Returns the pixels of the viewport.
    ///
    /// - Parameter decoder: an empty page; the page itself may forbid images and scripts.
    func pixels(decoder: BrowserPage) throws -> ScreenPixels {
        try ScreenPixels(png: try screenshot(), decoder: decoder)
    }

    private func pngCapture(_ parameters: DevToolsValue) throws -> Data {
        // `Data` is base64 in JSON, as in the protocol.
        try send("Page.captureScreenshot", parameters, as: Capture.self).data
    }
}

/// Checks of what a user sees, on the layout that the browser has computed.
extension BrowserPage {
    /// Returns the texts on the page whose contrast with their background is below 4.5.
    ///
    /// The source of the formula and of the limit is the W3C recommendation Web Content Accessibility Guidelines 2.2,
    /// success criterion 1.4.3, 2023.
    ///
    /// - Parameter backdrop: the CSS colour behind elements without a background of their own.
    func textsOfLowContrast(backdrop: String = "Canvas") throws -> [String] {
        try evaluate(
            """
            (() => {
                \(Self.color)
                const found = [];
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const text = walker.currentNode.data.trim();
                    const element = walker.currentNode.parentElement;
                    if (!text || !isSeen(element) || element.closest(":disabled, script, style, option")) continue;
                    const layers = [];
                    for (let above = element; above; above = above.parentElement) {
                        layers.unshift(rgba(getComputedStyle(above).backgroundColor));
                    }
                    const ground = layers.reduce(over, rgba("\(backdrop)"));
                    const ink = over(ground, rgba(getComputedStyle(element).color));
                    const ratio = contrast(ink, ground);
                    if (ratio < 4.5) found.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
                }
                return found;
            })()
            """)
    }

    /// Returns the contrast of two CSS colours, in [1, 21]; see `textsOfLowContrast`.
    func contrast(of ink: String, on ground: String) throws -> Double {
        try evaluate("(() => { \(Self.color) return contrast(rgba('\(ink)'), rgba('\(ground)')); })()")
    }

    /// Returns the computed value of a property of the page's root, such as `--text`.
    func rootProperty(_ name: String) throws -> String {
        try evaluate("getComputedStyle(document.documentElement).getPropertyValue('\(name)').trim()")
    }

    /// Returns the pairs of controls that overlap, and the controls that reach over the edge of the viewport sideways.
    ///
    /// - Parameter grounds: a selector of elements that lie below the controls on purpose.
    func misplacedControls(grounds: String) throws -> [String] {
        try evaluate(
            """
            (() => {
                \(Self.color)
                const selector = "button, select, input, summary, a[href], [tabindex='0'], [role='radio']";
                const controls = [...document.querySelectorAll(selector)].filter((element) =>
                    isSeen(element) && !element.matches("\(grounds)"));
                const name = (element) => element.localName + (element.id ? "#" + element.id : "")
                    + " “" + (element.ariaLabel ?? element.textContent ?? "").trim().slice(0, 30) + "”";
                // What an ancestor with a scroll bar hides isn't there.
                const shown = (element) => {
                    const box = element.getBoundingClientRect();
                    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
                    for (let above = element.parentElement; above; above = above.parentElement) {
                        if (getComputedStyle(above).overflowY === "visible" || above === document.body) continue;
                        const clip = above.getBoundingClientRect();
                        [left, top] = [Math.max(left, clip.left), Math.max(top, clip.top)];
                        [right, bottom] = [Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
                    }
                    return { left, top, right, bottom };
                };
                const found = [];
                controls.forEach((first, index) => {
                    const a = shown(first);
                    if (a.left < -0.5 || a.right > innerWidth + 0.5) found.push(name(first) + " is cut off");
                    for (const second of controls.slice(index + 1)) {
                        if (first.contains(second) || second.contains(first)) continue;
                        const b = shown(second);
                        const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                        const isOver = width > 1 && height > 1;
                        if (isOver) found.push(name(first) + " overlaps " + name(second));
                    }
                });
                return found;
            })()
            """)
    }

    /// Whether the document is wider than the viewport.
    var scrollsSideways: Bool {
        get throws {
            try evaluate("document.documentElement.scrollWidth > innerWidth || document.body.scrollWidth > innerWidth")
        }
    }

    /// Functions in JavaScript on colours, and on whether a user sees an element.
    private static let color = """
        const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const rgba = (color) => {
            context.clearRect(0, 0, 1, 1);
            context.fillStyle = color;
            context.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
            return [red, green, blue, alpha / 255];
        };
        const over = (ground, ink) =>
            [0, 1, 2].map((part) => ground[part] * (1 - ink[3]) + ink[part] * ink[3]).concat(1);
        const luminance = (color) => {
            const [red, green, blue] = color.slice(0, 3).map((part) => part / 255).map((part) =>
                part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const contrast = (first, second) => {
            const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        };
        const isSeen = (element) => {
            if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
            // Text for screen readers only has a box of one pixel; a link for the keyboard only lies outside.
            for (let above = element; above; above = above.parentElement) {
                const box = above.getBoundingClientRect();
                if (box.width <= 1 && box.height <= 1 || box.right <= 0) return false;
            }
            return true;
        };
        """
}

extension BrowserPage {
    /// A control as a screen reader announces it.
    struct SpokenControl {
        var role: String
        var name: String
    }

    /// Returns the controls in the page's accessibility tree, such as buttons and text fields.
    func spokenControls() throws -> [SpokenControl] {
        struct Tree: Decodable { var nodes: [Node] }
        struct Node: Decodable {
            struct Value: Decodable { var value: Text? }
            struct Text: Decodable {
                var text: String
                init(from decoder: any Decoder) throws {
                    text = (try? decoder.singleValueContainer().decode(String.self)) ?? ""
                }
            }
            var ignored: Bool
            var role: Value?
            var name: Value?
        }
        let roles = ["application", "button", "checkbox", "combobox", "radio", "radiogroup", "slider", "textbox"]
        return try send("Accessibility.getFullAXTree", as: Tree.self).nodes.filter { !$0.ignored }
            .map { SpokenControl(role: $0.role?.value?.text ?? "", name: $0.name?.value?.text ?? "") }
            .filter { roles.contains($0.role) }
    }
}

/// A problem that a page reports on its console or in its log.
///
/// Decoding fails for each other event of the DevTools protocol.
struct ReportedProblem: Decodable, CustomStringConvertible {
    struct NoProblem: Error {}

    private struct Message: Decodable {
        var method: String
        var params: Parameters
    }

    private struct Parameters: Decodable {
        var exceptionDetails: ExceptionDetails?
        var type: String?
        var args: [Object]?
        var entry: Entry?
    }

    private struct ExceptionDetails: Decodable {
        var text: String
        var url: String?
        var exception: Object?
    }

    private struct Object: Decodable {
        var description: String?
        var value: Text?
    }

    /// A value of the console as text.
    private struct Text: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    private struct Entry: Decodable {
        var source: String
        var level: String
        var text: String
        var url: String?
    }

    let description: String

    init(from decoder: any Decoder) throws {
        let message = try Message(from: decoder)
        let parameters = message.params
        switch message.method {
        case "Runtime.exceptionThrown":
            guard let details = parameters.exceptionDetails else { throw NoProblem() }
            description = "exception: \(details.exception?.description ?? details.text)"
        case "Runtime.consoleAPICalled":
            guard let type = parameters.type, ["error", "warning", "assert"].contains(type) else { throw NoProblem() }
            let words = (parameters.args ?? []).compactMap { $0.value?.text ?? $0.description }
            description = "console.\(type): \(words.joined(separator: " "))"
        case "Log.entryAdded":
            guard let entry = parameters.entry, ["error", "warning"].contains(entry.level) else { throw NoProblem() }
            description = "\(entry.source) \(entry.level): \(entry.text) \(entry.url ?? "")"
        default: throw NoProblem()
        }
    }
}
