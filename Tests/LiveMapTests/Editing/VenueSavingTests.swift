import Foundation
import IndoorVocabulary
import VenueModel
import VenuePackets
import XCTest

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
        XCTAssertEqual(editor.page.problems, [])
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
        XCTAssertEqual(editor.page.problems.filter { !$0.contains("412") }, [])
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
        XCTAssertEqual(editor.page.problems.filter { !$0.contains("422") }, [])
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
        try editor.page.run(
            """
            const kind = document.getElementById("field-naming");
            kind.value = "eddystoneUID";
            kind.dispatchEvent(new Event("change"));
            """)
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
        XCTAssertEqual(editor.page.problems, [])
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
