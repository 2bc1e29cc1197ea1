import Foundation

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
