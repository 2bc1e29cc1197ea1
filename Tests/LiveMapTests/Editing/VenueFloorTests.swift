import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import VenueModel
import VenuePackets
import XCTest

/// Floors, images of plans, scales and radio maps that a person sets on the page.
final class VenueFloorTests: VenueEditorCase {
    /// Opens the panels of the floor and of the venue.
    private func openPanels(_ editor: Editor) throws {
        try editor.page.run("for (const one of document.querySelectorAll('#panels details')) one.open = true;")
    }

    private func press(_ id: String, _ editor: Editor) throws {
        try editor.page.run("document.getElementById('\(id)').click()")
    }

    private func enter(_ text: String, into id: String, _ editor: Editor) throws {
        try editor.page.run("const field = document.getElementById('\(id)'); field.focus(); field.select();")
        for character in text { try editor.page.press(.character(character)) }
        try editor.page.press(.tab)
    }

    /// Gives the page a file, as a person chooses it.
    private func choose(_ bytes: Data, named name: String, in id: String, _ editor: Editor) throws {
        try editor.page.run(
            """
            const bytes = Uint8Array.from(atob("\(bytes.base64EncodedString())"), (one) => one.charCodeAt(0));
            const files = new DataTransfer();
            files.items.add(new File([bytes], "\(name)"));
            const input = document.getElementById("\(id)");
            input.files = files.files;
            input.dispatchEvent(new Event("change"));
            """)
    }

    /// Clicks two points, and gives their distance.
    private func setScale(
        _ editor: Editor, _ first: (Double, Double), _ second: (Double, Double), meters: String,
        keepsMeters: Bool = false
    ) throws {
        try press("floor-scale", editor)
        try editor.click(first, second)
        try editor.page.wait(until: "document.getElementById('scale-dialog').open")
        if keepsMeters { try editor.page.run("document.querySelectorAll('[name=scaled]')[1].click()") }
        for character in meters { try editor.page.press(.character(character)) }
        try editor.page.press(.enter)
        try editor.page.wait(until: "!document.getElementById('scale-dialog').open")
        try editor.map.waitForDrawing()
    }

    func testAFloorIsCopiedRenamedOrderedAndRemovedWithItsObjects() throws {
        let editor = try editor()
        let before = try editor.venue
        try openPanels(editor)
        try press("floor-copy", editor)
        try enter("Attic", into: "floor-name", editor)
        try enter("5", into: "floor-level", editor)
        XCTAssertEqual(try editor.map.text(of: "#floors button"), "Attic", "the highest level is the first")
        try editor.save()
        let copied = try editor.venue
        let attic = try XCTUnwrap(copied.maps.last)
        XCTAssertEqual(attic.name, "Attic")
        XCTAssertEqual(attic.level, 5)
        XCTAssertEqual(attic.walls, before.maps[0].walls)
        XCTAssertEqual(attic.imagePath, before.maps[0].imagePath)
        func areas(_ venue: Venue, _ map: MapID) -> [Area?] { venue.rooms.filter { $0.mapID == map }.map(\.area) }
        XCTAssertEqual(areas(copied, attic.id), areas(before, before.maps[0].id))
        XCTAssertEqual(copied.beacons, before.beacons, "a beacon is at one place")
        let paths = try XCTUnwrap(copied.paths)
        XCTAssertEqual(paths.nodes.count { $0.mapID == attic.id }, 20)
        XCTAssertEqual(Set(paths.nodes.map(\.id)).count, paths.nodes.count)
        try press("floor-remove", editor)
        let text = try editor.map.text(of: "#removal-text")
        XCTAssertTrue(text.contains("12 rooms") && text.contains("27 walls") && text.contains("20 nodes"), text)
        try editor.map.click("#removal-cancel")
        XCTAssertFalse(try editor.state.isChanged)
        try press("floor-remove", editor)
        try editor.map.click("#removal-confirm")
        XCTAssertNotEqual(try editor.state.mapId, attic.id.rawValue)
        try editor.save()
        XCTAssertEqual(try editor.venue, before)
        try press("floor-remove", editor)
        try editor.map.click("#removal-confirm")
        XCTAssertTrue(
            try editor.page.evaluate("document.getElementById('floor-remove').disabled"), "a venue has a floor")
        try editor.save()
        XCTAssertEqual(try editor.venue.maps.count, 1)
        XCTAssertEqual(editor.problems, [])
    }

    func testAnEmptyFloorIsAddedAndItsFieldsRefuseOtherTexts() throws {
        let editor = try editor()
        try openPanels(editor)
        try press("floor-add", editor)
        XCTAssertEqual(try editor.state.mapId, 3)
        try enter("high", into: "floor-level", editor)
        XCTAssertEqual(
            try editor.page.evaluate("document.getElementById('floor-level').ariaInvalid", as: String.self), "true")
        try enter("6,4", into: "floor-elevation", editor)
        try editor.save()
        let floor = try XCTUnwrap(try editor.venue.maps.last)
        XCTAssertEqual(floor.level, 2)
        XCTAssertEqual(floor.elevation, 6.4)
        XCTAssertEqual([floor.width, floor.height], [36, 20], "the size of the floor that was shown")
        XCTAssertNil(floor.imagePath)
    }

    func testTwoClicksAndALengthSetTheScale() throws {
        let editor = try editor()
        let before = try editor.venue
        try openPanels(editor)
        try setScale(editor, (1, 1), (35, 1), meters: "68")
        try editor.save()
        let wide = try editor.venue
        XCTAssertEqual(wide.maps[0].width, 72, accuracy: 0.2)
        let factor = wide.maps[0].width / 36
        XCTAssertEqual(wide.maps[0].height, 20 * factor, accuracy: 0.001)
        XCTAssertEqual(wide.beacons[0].point.x, before.beacons[0].point.x * factor, accuracy: 0.006)
        XCTAssertEqual(wide.maps[0].walls[0][1].x, before.maps[0].walls[0][1].x * factor, accuracy: 0.006)
        XCTAssertEqual(
            wide.paths?.nodes[0].point.y ?? 0, (before.paths?.nodes[0].point.y ?? 0) * factor, accuracy: 0.006)
        if case .circle(_, let radius) = wide.fences[0].area { XCTAssertEqual(radius, 2 * factor, accuracy: 0.006) }
        XCTAssertEqual(wide.beacons.last, before.beacons.last, "the other floor stays")
        XCTAssertEqual(wide.beacons[0].z, before.beacons[0].z)
        try editor.page.press(.character("z"), holding: .control)
        try setScale(editor, (1, 1), (35, 1), meters: "68", keepsMeters: true)
        try editor.save()
        let kept = try editor.venue
        XCTAssertEqual(kept.maps[0].width, 72, accuracy: 0.2)
        XCTAssertEqual(kept.beacons, before.beacons)
        XCTAssertEqual(kept.rooms, before.rooms)
    }

    func testANewVenueBeginsWithAnImageAndItsScale() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/new-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let editor = try editor(at: folder)
        XCTAssertFalse(try editor.page.evaluate("document.getElementById('choose-image').hidden"))
        XCTAssertEqual(try editor.map.text(of: "#saved"), "Not saved")
        try choose(Data("no picture".utf8), named: "notes.png", in: "plan-file", editor)
        try editor.page.wait(until: "document.getElementById('notice').innerText.includes('not a picture')")
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder))
        let picture = try Data(
            contentsOf: URL(filePath: FixtureFolder("office").path + "/plans/ground.png"))
        try choose(picture, named: "Ground floor.png", in: "plan-file", editor)
        try editor.page.wait(until: "window.venueEditor.document().maps[0].image !== undefined")
        XCTAssertTrue(try editor.page.evaluate("document.getElementById('choose-image').hidden"))
        try editor.map.waitForDrawing()
        // The long wall of the office: from pixel 30 to pixel 1050 of 1080, and 34 m in the building.
        let width = 20.0
        try setScale(editor, (width * 30 / 1080, 1), (width * 1050 / 1080, 1), meters: "34")
        try editor.choose("room")
        try editor.click((1, 1), (9, 1), (9, 6), (1, 6), (1, 1))
        try editor.save()
        let venue = try editor.venue
        XCTAssertEqual(venue.name, URL(filePath: folder).lastPathComponent)
        XCTAssertEqual(venue.maps[0].width, 36, accuracy: 0.2)
        XCTAssertEqual(venue.maps[0].widthPixels, 1080)
        XCTAssertEqual(venue.rooms.count, 1)
        let path = try XCTUnwrap(venue.maps[0].imagePath)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: folder + "/" + path)), picture)
        // Another image in its place, of another shape.
        let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='400'><rect width='9' height='9'/></svg>"
        try choose(Data(drawing.utf8), named: "new.svg", in: "plan-file", editor)
        try editor.page.wait(until: "window.venueEditor.document().maps[0].image.endsWith('.svg')")
        try editor.save()
        let square = try editor.venue
        XCTAssertEqual(square.maps[0].height, square.maps[0].width, accuracy: 0.001)
        XCTAssertEqual(square.rooms, venue.rooms)
        XCTAssertEqual(editor.problems, [])
    }

    func testTheRadioMapIsShownAddedAndRemoved() throws {
        var survey = Data()
        let editor = try editor { folder in
            let file = folder + "/surveyed.json"
            let tool = try ToolProcess([
                "survey", "--venue", folder, "-o", file, "Fixtures/office/survey/ground-west.jsonl",
            ])
            XCTAssertEqual(try tool.end(), 0)
            survey = try Data(contentsOf: URL(filePath: file))
        }
        try openPanels(editor)
        let note = try editor.map.text(of: "#radio-map-note")
        XCTAssertTrue(note.contains("surveyed.json") && note.contains("doesn't use it"), note)
        try editor.page.run(
            """
            const field = document.getElementById("radio-map");
            field.value = "surveyed.json";
            field.dispatchEvent(new Event("change"));
            """)
        try editor.save()
        XCTAssertNotNil(try editor.venue.radioMap)
        try editor.page.run(
            """
            const field = document.getElementById("radio-map");
            field.value = "";
            field.dispatchEvent(new Event("change"));
            """)
        try editor.save()
        XCTAssertNil(try editor.venue.radioMap)
        try choose(Data("{}".utf8), named: "x.json", in: "radio-map-file", editor)
        try editor.page.wait(until: "document.getElementById('notice').innerText.includes('not a radio map')")
        try choose(survey, named: "x.json", in: "radio-map-file", editor)
        try editor.page.wait(until: "window.venueEditor.document().radioMap !== undefined")
        try editor.save()
        XCTAssertNotNil(try editor.venue.radioMap)
        XCTAssertTrue(try editor.text.contains("\"radioMap\": \"radio-map-"))
    }

    func testThePanelsAndDialogsFitAndAreLegible() throws {
        let editor = try editor(isTouch: true)
        try openPanels(editor)
        for isDark in [false, true] {
            try editor.page.setPreferences(.init(isDark: isDark))
            try editor.page.wait(until: "document.documentElement.dataset.theme === '\(isDark ? "dark" : "light")'")
            let backdrop = try editor.page.rootProperty("--plan")
            XCTAssertEqual(try editor.page.textsOfLowContrast(backdrop: backdrop), [], "dark \(isDark)")
        }
        for (width, height, isTouch) in [(320, 568, true), (390, 844, false), (1440, 900, false)] {
            try editor.page.setViewport(width: width, height: height, isTouch: isTouch)
            try editor.map.waitForDrawing()
            XCTAssertFalse(try editor.page.scrollsSideways, "\(width)")
            for dialog in ["removal", "scale-dialog"] {
                try editor.page.run("document.getElementById('\(dialog)').showModal()")
                let box = try editor.map.box(of: "#\(dialog)")
                XCTAssertGreaterThanOrEqual(box.left, 0)
                XCTAssertLessThanOrEqual(box.left + box.width, Double(width))
                XCTAssertLessThanOrEqual(box.top + box.height, Double(height))
                try editor.page.run("document.getElementById('\(dialog)').close()")
            }
        }
        for control in try editor.page.spokenControls() { XCTAssertNotEqual(control.name, "", control.role) }
    }
}
