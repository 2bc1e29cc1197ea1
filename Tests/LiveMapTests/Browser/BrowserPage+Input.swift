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
