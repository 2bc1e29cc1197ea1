import Foundation
import IndoorLocalizationTesting
import VenueModel
import VenuePackets
import XCTest

/// Tests of the page that `indoorloc venue edit` serves, in a browser.
class VenueEditorCase: BrowserTestCase {
    /// What `window.venueEditor.state()` returns; see `edit-main.js`.
    struct State: Decodable {
        var mapId: Int?
        var tool: String
        var isChanged: Bool
        var selected: String
        var draft: Int
        var steps: Int
    }

    /// An editor in a browser with the packet that it changes.
    struct Editor {
        let page: BrowserPage
        let tool: ToolProcess
        let folder: String

        var map: ShownMap { ShownMap(page: page) }
        var file: String { folder + "/venue.json" }
        var text: String { get throws { try String(contentsOfFile: file, encoding: .utf8) } }
        var state: State { get throws { try page.evaluate("window.venueEditor.state()") } }
        /// The venue on disk, as the package reads it.
        var venue: Venue { get throws { try VenuePacketReader().read(folder).venue } }

        func choose(_ tool: String) throws { try map.click("[data-tool=\(tool)]") }

        func point(_ x: Double, _ y: Double) throws -> (x: Double, y: Double) {
            let point: ShownMap.Point = try page.evaluate("window.venueEditor.screenPoint(\(x), \(y))")
            return (point.x, point.y)
        }

        /// Clicks places on the map, given in metres.
        func click(_ places: (Double, Double)..., holding modifiers: BrowserPage.Modifiers = []) throws {
            for (x, y) in places {
                let point = try point(x, y)
                try page.click(x: point.x, y: point.y, holding: modifiers)
            }
        }

        func drag(from start: (Double, Double), to end: (Double, Double)) throws {
            try page.drag(from: try point(start.0, start.1), to: try point(end.0, end.1))
        }

        /// Saves with Ctrl+S, and waits for the answer.
        func save() throws {
            try page.press(.character("s"), holding: .control)
            try page.wait(until: "!window.venueEditor.state().isChanged")
        }

        /// Enters a text into a field of the panel.
        func enter(_ text: String, into name: String) throws {
            try page.run("const field = document.getElementById('field-\(name)'); field.focus(); field.select();")
            for character in text { try page.press(.character(character)) }
            try page.press(.tab)
        }
    }

    /// Copies a packet, and opens it in an editor.
    ///
    /// - Parameter change: changes the copy before it is opened.
    func editor(
        _ packet: String = "office", width: Int = 1440, height: Int = 900, isDark: Bool = false, isTouch: Bool = false,
        change: (String) throws -> Void = { _ in }
    ) throws -> Editor {
        let folder = FileManager.default.temporaryDirectory.path + "/edit-\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: try FixtureFolder(packet).path, toPath: folder)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        try change(folder)
        return try editor(at: folder, width: width, height: height, isDark: isDark, isTouch: isTouch)
    }

    /// Opens a packet in an editor.
    func editor(
        at folder: String, width: Int = 1440, height: Int = 900, isDark: Bool = false, isTouch: Bool = false
    ) throws -> Editor {
        let tool = try ToolProcess(["venue", "edit", folder])
        let page = try page()
        try page.setViewport(width: width, height: height, isTouch: isTouch)
        try page.setPreferences(.init(isDark: isDark))
        try page.open(try tool.firstLine())
        try page.wait(until: "window.venueEditor !== undefined")
        let editor = Editor(page: page, tool: tool, folder: folder)
        try editor.map.waitForDrawing()
        return editor
    }
}
