import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import VenueEditing
import VenueModel
import VenuePackets
import XCTest

/// Beacons, rooms and walls that a pointer sets on the plan.
final class VenueDrawingTests: VenueEditorCase {
    private func corners(of room: Room) -> [MapPoint] {
        if case .polygon(let corners) = room.area { corners } else { [] }
    }

    private func assert(
        _ points: [MapPoint], are expected: [(Double, Double)], within accuracy: Double = 0.05, line: UInt = #line
    ) {
        XCTAssertEqual(points.count, expected.count, "\(points)", line: line)
        for (point, place) in zip(points, expected) {
            XCTAssertEqual(point.x, place.0, accuracy: accuracy, line: line)
            XCTAssertEqual(point.y, place.1, accuracy: accuracy, line: line)
        }
    }

    func testAPointerSetsABeaconDrawsARoomAndAWallAndThePacketHasThem() throws {
        let editor = try editor()
        let before = try editor.venue
        let original = try editor.text
        try editor.choose("beacon")
        try editor.click((20, 10))
        try editor.choose("room")
        try editor.click((14, 13), (19, 13), (19, 17), (14, 17), (14, 13))
        try editor.choose("wall")
        try editor.click((3, 13), (3, 16), (7, 16))
        try editor.page.press(.enter)
        XCTAssertTrue(try editor.state.isChanged)
        XCTAssertEqual(try editor.text, original, "nothing is written before")
        try editor.save()
        let venue = try editor.venue
        XCTAssertEqual(venue.beacons.count, before.beacons.count + 1)
        let beacon = try XCTUnwrap(venue.beacons.last)
        XCTAssertEqual(beacon.mapID, 1)
        assert([beacon.point], are: [(20, 10)])
        XCTAssertEqual(beacon.identity.major, 1)
        XCTAssertEqual(beacon.identity.minor, 19, "the next minor of the floor")
        XCTAssertEqual(beacon.identity.uuid, before.beacons.first?.identity.uuid)
        XCTAssertEqual(beacon.z, 2.6, "the height of all beacons of the floor")
        let room = try XCTUnwrap(venue.rooms.last)
        XCTAssertEqual(room.id, 32)
        assert(corners(of: room), are: [(14, 13), (19, 13), (19, 17), (14, 17)])
        let walls = try XCTUnwrap(venue.maps.first).walls
        XCTAssertEqual(walls.count, before.maps[0].walls.count + 1)
        assert(try XCTUnwrap(walls.last), are: [(3, 13), (3, 16), (7, 16)])
        XCTAssertEqual(editor.problems, [])
    }

    func testABeaconIsMovedByDraggingItAndTheMoveIsUndoneAndDoneAgain() throws {
        let editor = try editor()
        try editor.drag(from: (16, 7.5), to: (12, 4))
        XCTAssertEqual(try editor.state.selected, "beacon 5")
        XCTAssertEqual(try editor.state.steps, 1, "a drag is one step")
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(12, 4)])
        try editor.page.press(.character("z"), holding: .control)
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(16, 7.5)], within: 0)
        try editor.page.press(.character("Z"), holding: [.control, .shift])
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(12, 4)])
        XCTAssertEqual(editor.problems, [])
    }

    func testACornerIsMovedAddedAndDeletedAlone() throws {
        let editor = try editor()
        // The cafe, whose corner at the right top is that of the wall as well.
        try editor.click((7, 14))
        XCTAssertEqual(try editor.state.selected, "room 8")
        try editor.drag(from: (13, 19), to: (12, 17))
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (13, 11.5), (12, 17), (1, 19)])
        // The middle of the upper edge becomes a corner.
        try editor.drag(from: (7, 11.5), to: (7, 10))
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (7, 10), (13, 11.5), (12, 17), (1, 19)])
        try editor.click((7, 10))
        try editor.page.press(.delete)
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (13, 11.5), (12, 17), (1, 19)])
    }

    func testACornerSnapsToTheCornersOfOtherShapesAndKeepsToTheAxisWithShift() throws {
        let editor = try editor()
        try editor.choose("wall")
        // 0.15 m are less than the ten pixels of the pointer's reach.
        try editor.click((13.12, 18.9))
        try editor.click((16, 18.6), holding: .shift)
        try editor.page.press(.enter)
        try editor.save()
        let wall = try XCTUnwrap(try editor.venue.maps[0].walls.last)
        XCTAssertEqual(wall.first, MapPoint(x: 13, y: 19), "the corner of the office")
        XCTAssertEqual(wall.last?.y, 19)
        XCTAssertEqual(wall.last?.x ?? 0, 16, accuracy: 0.05)
        try editor.page.run("document.getElementById('snap').click()")
        try editor.choose("wall")
        try editor.click((13.12, 18.9), (16, 16))
        try editor.page.press(.enter)
        try editor.save()
        XCTAssertEqual(try editor.venue.maps[0].walls.last?.first?.x ?? 0, 13.12, accuracy: 0.05)
    }

    func testADoubleClickEndsAWallAndEscapeGivesUpAShape() throws {
        let editor = try editor()
        try editor.choose("wall")
        try editor.click((3, 13), (7, 13), (7, 13))
        XCTAssertEqual(try editor.state.draft, 0)
        XCTAssertEqual(try editor.state.steps, 1)
        try editor.choose("room")
        try editor.click((14, 13), (19, 13))
        XCTAssertEqual(try editor.state.draft, 2)
        try editor.page.press(.enter)
        XCTAssertEqual(try editor.state.draft, 2, "a room needs three corners")
        try editor.page.press(.escape)
        XCTAssertEqual(try editor.state.draft, 0)
        XCTAssertEqual(try editor.state.steps, 1)
    }

    func testTheToolAndTheKeyDeleteObjects() throws {
        let editor = try editor()
        let before = try editor.venue
        try editor.choose("delete")
        try editor.click((2, 18))
        try editor.choose("select")
        try editor.click((24, 15))
        try editor.page.press(.delete)
        try editor.save()
        let venue = try editor.venue
        XCTAssertEqual(venue.beacons.count, before.beacons.count - 1)
        XCTAssertFalse(venue.beacons.contains { $0.identity == before.beacons[13].identity })
        XCTAssertEqual(venue.rooms.map(\.id), before.rooms.map(\.id).filter { $0 != 11 })
    }

    func testTheKeyboardSetsABeaconAndMovesIt() throws {
        let editor = try editor()
        try editor.page.run("document.getElementById('plan').focus()")
        try editor.page.press(.character("b"))
        for _ in 0..<4 { try editor.page.press(.right) }
        try editor.page.press(.space)
        XCTAssertEqual(try editor.state.selected, "beacon 32")
        try editor.page.press(.escape)
        try editor.save()
        let set = try XCTUnwrap(try editor.venue.beacons.last).point
        try editor.page.press(.down)
        try editor.page.press(.down, holding: .shift)
        XCTAssertEqual(try editor.state.steps, 2, "steps in a row are one")
        try editor.save()
        let moved = try XCTUnwrap(try editor.venue.beacons.last).point
        XCTAssertEqual(moved.x, set.x)
        XCTAssertEqual(moved.y, set.y + 1.1, accuracy: 1e-9)
    }

    func testAFingerSetsABeaconAndTwoFingersZoom() throws {
        let editor = try editor(width: 820, height: 1100, isTouch: true)
        try editor.choose("beacon")
        let place = try editor.point(20, 10)
        try editor.page.touch([[place]])
        try editor.page.wait(until: "window.venueEditor.state().steps === 1")
        let far = try editor.point(30, 10)
        let pinch = (1...5).map { step in
            [(x: place.x - Double(step) * 12, y: place.y), (x: place.x + Double(step) * 12, y: place.y)]
        }
        try editor.page.touch(pinch)
        try editor.map.waitForDrawing()
        XCTAssertGreaterThan(try editor.point(30, 10).x - editor.point(20, 10).x, 1.5 * (far.x - place.x))
        XCTAssertEqual(try editor.state.steps, 1, "a pinch sets nothing")
    }

    func testTheOtherFloorIsEditedAfterItsChoice() throws {
        let editor = try editor()
        try editor.map.click("#floors [data-map='2']")
        try editor.page.wait(until: "window.venueEditor.state().mapId === 2")
        try editor.choose("beacon")
        try editor.click((15, 15))
        try editor.save()
        let beacon = try XCTUnwrap(try editor.venue.beacons.last)
        XCTAssertEqual(beacon.mapID, 2)
        XCTAssertEqual(beacon.identity.major, 2)
        XCTAssertEqual(beacon.identity.minor, 15)
    }

    func testThePacketThatVenueNewBeganGetsItsFirstBeaconAndRoom() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/new-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let tool = try ToolProcess([
            "venue", "new", "--plan", FixtureFolder("office").path + "/plans/ground.png", "--scale", "30,30,1050,30=34",
            "--output", folder,
        ])
        XCTAssertEqual(try tool.end(), 0)
        let editor = try editor(at: folder)
        try editor.choose("beacon")
        try editor.click((20, 10), (4, 10))
        try editor.choose("room")
        try editor.click((1, 1), (9, 1), (9, 6), (1, 6), (1, 1))
        try editor.save()
        let venue = try editor.venue
        assert(venue.beacons.map(\.point), are: [(20, 10), (4, 10)])
        XCTAssertEqual(venue.beacons.map(\.identity.minor), [1, 2])
        assert(corners(of: try XCTUnwrap(venue.rooms.first)), are: [(1, 1), (9, 1), (9, 6), (1, 6)])
        XCTAssertEqual(editor.problems, [])
    }
}

/// What the page of `indoorloc venue edit` writes, and what it shows when it can't.
final class VenueSavingTests: VenueEditorCase {
    private func replace(_ old: String, with new: String, in file: String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        XCTAssertTrue(text.contains(old), old)
        try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: URL(filePath: file))
    }

    func testOnlyTheLinesOfChangedObjectsDifferAndUnknownKeysAndNumbersStay() throws {
        let owner = #"  "x-owner": {"9": 1, "1": 12345678901234567890, "e": 1E400},"#
        let editor = try editor { folder in
            try replace(
                "\"radius\": 30,",
                with: "\"radius\": 30,\n" + owner,
                in: folder + "/venue.json")
            try replace("\"minor\": 6, ", with: "\"minor\": 6, \"x-battery\": 2.50, ", in: folder + "/venue.json")
        }
        let before = try editor.text.components(separatedBy: "\n")
        try editor.drag(from: (16, 7.5), to: (12, 4))
        try editor.save()
        let after = try editor.text.components(separatedBy: "\n")
        XCTAssertEqual(after.count, before.count)
        let changed = zip(before, after).filter { $0 != $1 }
        XCTAssertEqual(changed.count, 1)
        let line = try XCTUnwrap(changed.first?.1)
        XCTAssertTrue(
            line.hasPrefix(
                #"    {"uuid": "6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F", "major": 1, "minor": 6, "#
                    + #""x-battery": 2.5, "mapId": 1, "x": 12"#
            ),
            line)
        XCTAssertTrue(line.hasSuffix(#""z": 2.6, "measuredPower": -59, "pathLossExponent": 2.3},"#), line)
        XCTAssertTrue(after.contains(owner))
        XCTAssertEqual(editor.problems, [])
    }

    func testAChangeOfFileByAnotherProgramIsKeptUntilTheUserDecides() throws {
        let editor = try editor()
        try replace("\"Office\"", with: "\"Bureau\"", in: editor.file)
        try editor.drag(from: (16, 7.5), to: (12, 4))
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(until: "document.getElementById('conflict').open")
        XCTAssertEqual(try editor.venue.name, "Bureau")
        XCTAssertTrue(try editor.state.isChanged, "nothing is lost")
        try editor.map.click("#overwrite")
        try editor.page.wait(until: "!window.venueEditor.state().isChanged")
        XCTAssertEqual(try editor.venue.name, "Office")
        XCTAssertEqual(try editor.venue.beacons[5].point.x, 12, accuracy: 0.05)

        try replace("\"Office\"", with: "\"Bureau\"", in: editor.file)
        try editor.drag(from: (10, 2), to: (14, 4))
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(until: "document.getElementById('conflict').open")
        try editor.map.click("#reload")
        try editor.page.wait(until: "!document.getElementById('conflict').open")
        XCTAssertEqual(
            try editor.page.evaluate("window.venueEditor.document().name", as: String.self), "Bureau")
        XCTAssertFalse(try editor.state.isChanged)
        XCTAssertEqual(try editor.venue.beacons[4].point, MapPoint(x: 10, y: 2))
        // The browser itself reports the two refusals.
        XCTAssertEqual(editor.problems.filter { !$0.contains("412") }, [])
    }

    func testADuplicateIsShownAtOnceAndNothingIsWrittenUntilItIsCorrected() throws {
        let editor = try editor()
        let before = try editor.text
        try editor.click((16, 7.5))
        try editor.enter("5", into: "minor")
        XCTAssertEqual(try editor.map.text(of: "#own-problems"), "has the identity of 1/5")
        XCTAssertEqual(try editor.map.text(of: "#problem-list"), "1/5: has the identity of 1/5")
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(until: "!document.getElementById('notice').hidden")
        try editor.page.wait(until: "document.getElementById('notice').innerText.includes('Nothing was saved')")
        XCTAssertEqual(try editor.text, before)
        try editor.enter("77", into: "minor")
        XCTAssertTrue(try editor.page.evaluate("document.getElementById('problems').hidden"))
        try editor.save()
        XCTAssertEqual(try editor.venue.beacons[5].identity.minor, 77)
        XCTAssertEqual(editor.problems.filter { !$0.contains("422") }, [])
    }

    func testASaveWithoutAnAnswerInTimeIsNotSaidToHaveFailed() throws {
        let editor = try editor()
        try editor.drag(from: (10, 2), to: (14, 4))
        try editor.page.run(
            """
            window.fetch = () => Promise.reject(new DOMException("signal timed out", "TimeoutError"));
            """)
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(
            until: "document.getElementById('notice').innerText.includes('known whether the venue was saved')")
        XCTAssertTrue(try editor.state.isChanged)
    }

    func testACheckThatTheServerLeftOutIsRepeated() throws {
        let editor = try editor()
        // As with a second page, whose newer document the server checks instead.
        try editor.page.run(
            """
            const original = window.fetch;
            let isFirst = true;
            window.fetch = (resource, options) => {
              if (options?.method !== "POST" || !isFirst) return original(resource, options);
              isFirst = false;
              return Promise.resolve(new Response("{}", { status: 409 }));
            };
            """)
        try editor.drag(from: (10, 2), to: (14, 4))
        try editor.waitForCheck()
    }

    func testAProblemThatTheServerFindsIsShownBesideItsObject() throws {
        let editor = try editor()
        try editor.click((16, 7.5))
        try editor.enter("not a uuid", into: "uuid")
        try editor.page.press(.escape)
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(until: "document.querySelector('#problem-list .error') !== null")
        try editor.map.click("#problem-list button")
        XCTAssertEqual(try editor.state.selected, "beacon 5")
        let own = try editor.map.text(of: "#own-problems")
        XCTAssertTrue(own.contains("not a uuid"), own)
        XCTAssertEqual(
            try editor.page.evaluate("document.getElementById('field-uuid').value", as: String.self), "not a uuid")
    }

    func testFieldsOfABeaconAndARoomAreWritten() throws {
        let editor = try editor()
        try editor.click((16, 7.5))
        for (name, text) in [("x", "15,5"), ("z", "3.1"), ("measuredPower", "-63"), ("address", "C4:7C:8D:00:09:09")] {
            try editor.enter(text, into: name)
        }
        try editor.enter("abc", into: "y")
        XCTAssertEqual(try editor.map.text(of: "#invalid-y"), "Give a number.")
        try editor.click((7, 14))
        try editor.enter("Canteen", into: "name")
        try editor.save()
        let beacon = try editor.venue.beacons[5]
        XCTAssertEqual(beacon.point, MapPoint(x: 15.5, y: 7.5), "the invalid y is not taken")
        XCTAssertEqual(beacon.z, 3.1)
        XCTAssertEqual(beacon.measuredPower, -63)
        XCTAssertEqual(beacon.address?.description, "C4:7C:8D:00:09:09")
        XCTAssertEqual(try editor.venue.rooms[8].name, "Canteen")
    }

    func testABeaconGetsAnotherKindOfIdentity() throws {
        let editor = try editor()
        try editor.click((16, 7.5))
        try editor.select("eddystoneUID", in: "naming")
        try editor.enter("EDD1EBEAC04E5DEFA017", into: "namespace")
        try editor.enter("0BDB87539B67", into: "instance")
        try editor.save()
        let beacon = try editor.venue.beacons[5]
        XCTAssertEqual(beacon.naming, .eddystoneUID)
        XCTAssertEqual(beacon.identity.eddystoneInstance, "0BDB87539B67")
        XCTAssertFalse(
            try editor.text.components(separatedBy: "\n").contains { $0.contains("EDD1") && $0.contains("uuid") })
    }

    func testAMovedBeaconOfTheSurveyIsReported() throws {
        let editor = try editor { folder in
            let survey = try ToolProcess([
                "survey", "--venue", folder, "-o", folder + "/radio-map.json.gz",
                "Fixtures/office/survey/ground-west.jsonl",
            ])
            XCTAssertEqual(try survey.end(), 0)
            try replace(
                "\"radius\": 30,", with: "\"radius\": 30,\n  \"radioMap\": \"radio-map.json.gz\",",
                in: folder + "/venue.json")
        }
        try editor.click((7, 14))
        try editor.enter("Canteen", into: "name")
        try editor.save()
        XCTAssertTrue(try editor.page.evaluate("document.getElementById('survey').hidden"))
        try editor.drag(from: (16, 7.5), to: (12, 4))
        try editor.save()
        XCTAssertFalse(try editor.page.evaluate("document.getElementById('survey').hidden"))
        let survey = try editor.map.text(of: "#survey")
        XCTAssertTrue(survey.contains("no longer agrees with the beacons (moved: 1/6)"), survey)
    }

    func testAPacketWithErrorsOpensAndShowsThem() throws {
        let editor = try editor { folder in
            try replace("\"mapId\": 1, \"x\": 16.0", with: "\"mapId\": 1, \"x\": \"east\"", in: folder + "/venue.json")
        }
        let problems = try editor.map.text(of: "#problem-list")
        XCTAssertTrue(problems.contains("1/6"), problems)
        try editor.map.click("#problem-list button")
        try editor.enter("16", into: "x")
        try editor.save()
        XCTAssertEqual(try editor.venue.beacons[5].point.x, 16)
    }

    // MARK: Layout and access

    func testThePageFitsEachScreenAndItsTextsAreLegible() throws {
        let editor = try editor(isTouch: true)
        try editor.page.run("document.querySelector('[data-object=beacon-5]').click()")
        try editor.choose("room")
        try assertFitsAndIsLegible(editor)
    }

    func testEachControlHasANameForScreenReaders() throws {
        let editor = try editor()
        for place in [(16.0, 7.5), (7, 14), (9, 4)] {
            try editor.click(place)
            let controls = try editor.page.spokenControls()
            XCTAssertGreaterThan(controls.count, 60)
            for control in controls { XCTAssertNotEqual(control.name, "", control.role) }
        }
    }

    func testThePageWarnsBeforeUnsavedChangesAreLost() throws {
        let editor = try editor()
        let isHeld = """
            (() => {
                const leaving = new Event("beforeunload", { cancelable: true });
                window.dispatchEvent(leaving);
                return leaving.defaultPrevented;
            })()
            """
        XCTAssertFalse(try editor.page.evaluate(isHeld))
        try editor.drag(from: (16, 7.5), to: (12, 4))
        XCTAssertTrue(try editor.page.evaluate(isHeld))
    }
}

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
        /// What the page reports. The server can receive a check that the page has ended after the next one, which it then
        /// refuses: the page sends it again, and the browser itself reports the refusal.
        var problems: [String] { page.problems.filter { !($0.contains("409") && $0.contains("/check")) } }
        /// The venue on disk, as the package reads it.
        var venue: Venue { get throws { try VenuePacketReader().read(folder).venue } }

        /// Chooses a tool, in the menu if it has no button of its own.
        func choose(_ tool: String) throws {
            let own = "#tools [data-tool=\(tool)]"
            if try page.evaluate("document.querySelector('\(own)')?.getClientRects().length > 0") {
                return try map.click(own)
            }
            try map.click("#more")
            try map.click("#more-tools [data-tool=\(tool)]")
        }

        /// Chooses an option of a field of the panel.
        func select(_ option: String, in name: String) throws {
            try page.run(
                """
                const field = document.getElementById("field-\(name)");
                field.value = "\(option)";
                field.dispatchEvent(new Event("change"));
                """)
        }

        /// Waits until the server has checked the document that the page shows.
        func waitForCheck() throws { try page.wait(until: "window.venueEditor.state().isChecked") }

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

    /// Asserts that the page of an editor fits each screen, and that its texts are legible in both appearances.
    func assertFitsAndIsLegible(_ editor: Editor) throws {
        // A telephone makes a page that is too wide smaller, a narrow window doesn't.
        for (width, height, isTouch) in [
            (320, 568, true), (320, 568, false), (390, 844, false), (820, 1180, true), (1024, 600, false),
            (1440, 900, false),
        ] {
            try editor.page.setViewport(width: width, height: height, isTouch: isTouch)
            try editor.map.waitForDrawing()
            let place = "\(width) × \(height)"
            XCTAssertFalse(try editor.page.scrollsSideways, place)
            XCTAssertEqual(try editor.page.misplacedControls(grounds: "#plan, #panels *"), [], place)
        }
        for isDark in [false, true] {
            try editor.page.setPreferences(.init(isDark: isDark))
            try editor.page.wait(until: "document.documentElement.dataset.theme === '\(isDark ? "dark" : "light")'")
            try editor.map.waitForDrawing()
            let found = try editor.page.textsOfLowContrast(backdrop: try editor.page.rootProperty("--plan"))
            XCTAssertEqual(found, [], "dark \(isDark)")
        }
        XCTAssertEqual(editor.problems, [])
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

final class DocumentRevisionTests: XCTestCase {
    private let old = DocumentRevision(Array("{\"id\": 1}".utf8))
    private let new = DocumentRevision(Array("{\"id\": 2}".utf8))

    func testEqualDocumentsHaveEqualRevisionsAndOthersDiffer() {
        XCTAssertEqual(old, DocumentRevision(Array("{\"id\": 1}".utf8)))
        XCTAssertNotEqual(old.tag, new.tag)
        XCTAssertTrue(old.tag.hasPrefix("\"") && old.tag.hasSuffix("\""), old.tag)
    }

    func testARequestReplacesOnlyTheRevisionThatItNames() {
        XCTAssertNil(SaveCondition(header: old.tag).refusal(current: old))
        XCTAssertNil(SaveCondition(header: "\"x\" ,  \(old.tag)").refusal(current: old))
        XCTAssertEqual(SaveCondition(header: old.tag).refusal(current: new), .changed)
        XCTAssertEqual(SaveCondition(header: "").refusal(current: new), .changed)
        XCTAssertEqual(SaveCondition(header: old.tag).refusal(current: nil), .changed, "the file was removed")
    }

    func testARequestWithoutARevisionIsRefusedAndAStarMeansAnyRevision() {
        XCTAssertEqual(SaveCondition(header: nil).refusal(current: old), .unconditional)
        XCTAssertNil(SaveCondition(header: "*").refusal(current: new))
        XCTAssertEqual(SaveCondition(header: "*").refusal(current: nil), .changed)
    }
}

final class SurveyChangesTests: XCTestCase {
    /// The office with a radio map of its beacons 1 to 3.
    private func office() throws -> Venue {
        var venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        venue.radioMap = RadioMap(
            beacons: venue.beacons.prefix(3).map {
                RadioMap.Beacon(identity: $0.identity, mapID: $0.mapID, point: $0.point, power: -60)
            }, fingerprints: [], pathLossExponent: 2)
        return venue
    }

    func testAMovedAndARemovedBeaconOfTheSurveyAreNamed() throws {
        let old = try office()
        var new = old
        new.beacons[1].point.x += 0.5
        new.beacons.remove(at: 0)
        let changes = try XCTUnwrap(SurveyChanges(from: old, to: new))
        XCTAssertEqual(changes.moved, [old.beacons[1].name])
        XCTAssertEqual(changes.removed, [old.beacons[0].name])
    }

    func testABeaconThatMovesToAnotherFloorOrHeightIsNamed() throws {
        let old = try office()
        var new = old
        new.beacons[0].mapID = 2
        new.beacons[2].z = 1
        XCTAssertEqual(SurveyChanges(from: old, to: new)?.moved, [old.beacons[0].name, old.beacons[2].name])
    }

    func testTheSurveyStillAgreesAfterChangesOfOtherBeaconsAndOfRooms() throws {
        let old = try office()
        var new = old
        new.beacons[5].point.x += 1
        new.beacons.removeLast()
        new.rooms.removeAll()
        new.beacons[0].measuredPower = -70
        XCTAssertNil(SurveyChanges(from: old, to: new))
    }

    func testWithoutARadioMapNothingDisagrees() throws {
        let old = try office()
        var new = old
        new.radioMap = nil
        new.beacons[0].point.x += 3
        XCTAssertNil(SurveyChanges(from: old, to: new))
    }
}
