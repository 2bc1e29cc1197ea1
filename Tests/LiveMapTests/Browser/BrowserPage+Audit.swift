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
