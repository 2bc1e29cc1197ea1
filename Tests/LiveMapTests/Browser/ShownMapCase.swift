import Foundation
import LiveMap
import XCTest

/// Tests of the page in a browser.
class ShownMapCase: BrowserTestCase {
    /// Opens the sample as a file without a server.
    ///
    /// - Parameters:
    ///   - width: the width of the viewport in CSS pixels.
    ///   - height: the height of the viewport in CSS pixels.
    ///   - script: JavaScript that runs before the page.
    func savedPage(
        _ document: LiveMapDocument = SampleSession().document, width: Int = 1440, height: Int = 900, scale: Double = 1,
        isTouch: Bool = false, preferences: BrowserPage.Preferences = .init(), script: String? = nil
    ) throws -> ShownMap {
        let path = FileManager.default.temporaryDirectory.path + "/live-map-\(UUID().uuidString).html"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        try Data(try LiveMapPage.document(document)).write(to: URL(filePath: path))
        let page = try page()
        try page.setViewport(width: width, height: height, scale: scale, isTouch: isTouch)
        try page.setPreferences(preferences)
        if let script { try page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)]) }
        try page.open("file://" + path)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }
}
