import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import VenueModel
import VenuePackets
import XCTest

/// The expected errors, the proposed beacons and the simulated walks on the page that edits a venue.
final class VenueSimulationPageTests: VenueEditorCase {
    /// What `window.venueEditor.walk()` returns: the content of a walk's file.
    private struct Walk: Decodable {
        struct Point: Decodable {
            var mapId: Int
            var x: Double
            var y: Double
            var pause: Double?
        }
        var points: [Point]
    }

    private func walk(_ editor: Editor) throws -> Walk { try editor.page.evaluate("window.venueEditor.walk()") }

    private func press(_ id: String, _ editor: Editor) throws {
        try editor.page.run("document.getElementById('\(id)').click()")
    }

    private func isHidden(_ id: String, _ editor: Editor) throws -> Bool {
        try editor.page.evaluate("document.getElementById('\(id)').hidden")
    }

    private func enter(_ text: String, into id: String, _ editor: Editor) throws {
        try editor.page.run(
            """
            document.getElementById("simulation").open = true;
            const field = document.getElementById("\(id)");
            field.focus();
            field.select();
            """)
        for character in text { try editor.page.press(.character(character)) }
        try editor.page.press(.tab)
    }

    private func simulateCoverage(_ editor: Editor) throws {
        try press("simulate", editor)
        try editor.page.wait(
            until: "!document.getElementById('coverage-result').hidden && document.getElementById('coverage-run')"
                + ".textContent === 'Simulate coverage'")
        try editor.map.waitForDrawing()
    }

    /// Draws a walk of three points on the ground floor, and of two on the upper one.
    private func drawWalk(_ editor: Editor) throws {
        try editor.choose("walk")
        try editor.click((21, 5), (21, 10), (26.4, 10))
        try editor.page.press(.enter)
        try editor.map.click("#floors [data-map='2']")
        try editor.page.wait(until: "window.venueEditor.state().mapId === 2")
        try editor.map.waitForDrawing()
        try editor.click((27, 10), (16, 10))
        try editor.page.press(.enter)
    }

    private func simulateWalk(_ editor: Editor) throws {
        try press("walk-run", editor)
        try editor.page.wait(
            until: "document.getElementById('walk-run').textContent === 'Simulate walk' "
                + "&& !document.getElementById('walk-result').hidden && document.getElementById('walk-old').hidden")
        try editor.map.waitForDrawing()
    }

    /// The figures of the walk by their names.
    private func figures(_ editor: Editor) throws -> [String: String] {
        let facts: [[String]] = try editor.page.evaluate(
            """
            [...document.querySelectorAll("#walk-figures dt")].map((name) =>
                [name, name.nextElementSibling].map((one) => one.textContent.replaceAll("\\u00a0", " ")))
            """)
        return Dictionary(uniqueKeysWithValues: facts.map { ($0[0], $0[1]) })
    }

    /// Returns the colour of the plan at a place in metres.
    private func color(_ x: Double, _ y: Double, _ editor: Editor) throws -> [Int] {
        let point = try editor.point(x, y)
        return try editor.page.evaluate(
            """
            (() => {
                const canvas = document.getElementById("canvas-plan");
                const box = canvas.getBoundingClientRect();
                const [x, y] = [\(point.x) - box.left, \(point.y) - box.top];
                const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
                pixel.drawImage(canvas, x * devicePixelRatio, y * devicePixelRatio, 1, 1, 0, 0, 1, 1);
                return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
            })()
            """)
    }

    /// Makes the page keep the signals of its simulations, and defines `field(id, text)`, which enters a text at once.
    private func watchSimulations(_ editor: Editor) throws {
        try editor.page.run(
            """
            document.getElementById("simulation").open = true;
            window.signals = [];
            const original = window.fetch;
            window.fetch = (address, options) => {
                if (/api.v1.(coverage|walk)/.test(address)) window.signals.push(options.signal);
                return original(address, options);
            };
            window.field = (id, text) => {
                const input = document.getElementById(id);
                input.value = text;
                return input;
            };
            """)
    }

    /// Runs a script without a pause, so that no simulation ends meanwhile. Returns whether each simulation was ended by
    /// the page, followed by the text of a button.
    private func ended(_ editor: Editor, _ script: String, button: String) throws -> [String] {
        try editor.page.evaluate(
            """
            (() => {
                const press = (id) => document.getElementById(id).click();
                const enter = (id, text) => window.field(id, text).dispatchEvent(
                    new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
                \(script);
                return [...window.signals.map((one) => String(one.aborted)), document.getElementById("\(button)").textContent];
            })()
            """)
    }

    // MARK: Coverage

    func testTheButtonShowsTheExpectedErrorsAndProposalsBecomeBeaconsThatAreUndone() throws {
        let editor = try editor()
        let before = try editor.venue
        let plain = try color(21.3, 12.4, editor)
        try simulateCoverage(editor)
        let table = try editor.map.text(of: "#coverage-floors")
        // As `plot coverage` prints them for the office.
        XCTAssertTrue(table.contains("Ground floor\t2.23 m"), table)
        XCTAssertTrue(table.contains("2.26 m"), table)
        XCTAssertNotEqual(try color(21.3, 12.4, editor), plain, "the heat map is on the plan")
        XCTAssertTrue(try editor.map.text(of: "#legend").contains("Expected 68 % error (m)"))
        XCTAssertTrue(try editor.map.text(of: "#coverage-notes").contains("cells of 1.00 m"))
        XCTAssertTrue(try isHidden("coverage-old", editor))

        try editor.page.run("document.querySelector('#proposals [aria-label=\"Add proposed beacon 1\"]').click()")
        XCTAssertEqual(try editor.state.steps, 1)
        XCTAssertFalse(try isHidden("coverage-old", editor))
        let buttons =
            "[...document.querySelectorAll('#proposals li > button:last-child')].map((one) => one.textContent)"
        XCTAssertEqual(try editor.page.evaluate(buttons, as: [String].self), ["Added", "Add", "Add"])
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(try editor.page.evaluate(buttons, as: [String].self), ["Add", "Add", "Add"])
        XCTAssertFalse(try editor.state.isChanged)
        XCTAssertTrue(try isHidden("coverage-old", editor), "the venue is again the one of the result")

        try press("proposals-add", editor)
        XCTAssertEqual(try editor.state.steps, 1, "all are one step")
        try editor.save()
        let added = try editor.venue.beacons.dropFirst(before.beacons.count)
        XCTAssertEqual(added.count, 3)
        for beacon in added {
            let map = try XCTUnwrap(try editor.venue.map(beacon.mapID))
            XCTAssertTrue(MapInterior(of: map, in: try editor.venue).contains(beacon.point), "\(beacon.point)")
        }
        try press("coverage-run", editor)
        try editor.page.wait(until: "document.getElementById('coverage-old').hidden")
        XCTAssertFalse(
            try editor.map.text(of: "#coverage-floors").contains("Ground floor\t2.23 m"), "the beacons reduce the error"
        )
        try editor.page.press(.character("z"), holding: .control)
        try editor.save()
        XCTAssertEqual(try editor.venue.beacons, before.beacons)
        XCTAssertEqual(editor.problems, [])
    }

    func testTheNumberOfReceivedBeaconsIsShownAndTheMapIsHiddenOnRequest() throws {
        let editor = try editor()
        try simulateCoverage(editor)
        let errors = try color(21.3, 12.4, editor)
        func show(_ quantity: String) throws {
            try editor.page.run(
                """
                const choice = document.getElementById("coverage-shown");
                choice.value = "\(quantity)";
                choice.dispatchEvent(new Event("change"));
                """)
            try editor.map.waitForDrawing()
        }
        try show("heard")
        XCTAssertTrue(try editor.map.text(of: "#legend").contains("Received beacons"))
        let heard = try color(21.3, 12.4, editor)
        try show("")
        XCTAssertTrue(try isHidden("legend", editor))
        let plain = try color(21.3, 12.4, editor)
        XCTAssertEqual(Set([errors, heard, plain]).count, 3)
        try show("error")
        XCTAssertEqual(try color(21.3, 12.4, editor), errors)
    }

    func testRoomsWithoutAnImageDoNotHideTheHeatMap() throws {
        let editor = try editor { folder in
            let file = URL(filePath: folder + "/venue.json")
            let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
            var document = try XCTUnwrap(object as? [String: Any])
            let maps = try XCTUnwrap(document["maps"] as? [[String: Any]])
            document["maps"] = maps.map { map in map.filter { !["image", "tiles"].contains($0.key) } }
            try JSONSerialization.data(withJSONObject: document).write(to: file)
        }
        let plain = try color(7, 16.3, editor)
        try simulateCoverage(editor)
        XCTAssertNotEqual(try color(7, 16.3, editor), plain)
    }

    func testTheKeyboardSimulatesAndInvalidNumbersAndFailuresSayWhatIsWrong() throws {
        let editor = try editor()
        try editor.page.run("document.getElementById('plan').focus()")
        try editor.page.press(.character("s"))
        try editor.page.wait(until: "!document.getElementById('coverage-result').hidden")
        try enter("0", into: "coverage-target", editor)
        try editor.page.run("document.getElementById('coverage-target').focus()")
        try editor.page.press(.enter)
        XCTAssertEqual(try editor.map.text(of: "#coverage-target-invalid"), "Give a number from 0.1 to 1000.")
        try enter("4", into: "coverage-target", editor)
        try editor.page.run("document.getElementById('coverage-target').focus()")
        try editor.page.press(.enter)
        try editor.page.wait(until: "document.getElementById('coverage-floors').innerText.includes('4\\u00a0m')")
        XCTAssertTrue(try isHidden("coverage-target-invalid", editor))
        // The venue of the draft has an error.
        try editor.click((16, 7.5))
        try editor.enter("east", into: "uuid")
        try press("coverage-run", editor)
        try editor.page.wait(
            until: "document.getElementById('coverage-state').textContent.includes('Correct it before you simulate')")
        XCTAssertEqual(editor.problems.filter { !$0.contains("422") }, [])
    }

    func testARunningSimulationIsStoppedAndStartedAnewByEnter() throws {
        let editor = try editor()
        try watchSimulations(editor)
        XCTAssertEqual(
            try ended(editor, "press('coverage-run'); press('coverage-run')", button: "coverage-run"),
            ["true", "Simulate coverage"])
        XCTAssertEqual(try editor.map.text(of: "#coverage-state"), "The simulation was stopped.")
        XCTAssertEqual(
            try ended(
                editor, "window.signals = []; press('coverage-run'); enter('coverage-target', '2.04')",
                button: "coverage-run"), ["true", "false", "Stop"])
        try editor.page.wait(
            until: "document.getElementById('coverage-floors').innerText.includes('≤\\u00a02.04\\u00a0m')")
        XCTAssertEqual(try editor.map.text(of: "#coverage-run"), "Simulate coverage")
        // The server can receive a request that the page has ended after the next one.
        XCTAssertEqual(editor.problems.filter { !$0.contains("409") }, [])
    }

    func testAnAnswerOfAProxySaysItsStatus() throws {
        let editor = try editor()
        try editor.page.run(
            """
            window.answers = [
                Response.json({ error: "A newer simulation runs." }, { status: 409 }),
                new Response("<html>Bad gateway</html>", { status: 502 }), new Response("<html>Log in</html>"),
                Response.json({ error: "Correct it.", problems: ["x".repeat(400)] }, { status: 422 }),
            ];
            const original = window.fetch;
            window.fetch = async (address, options) => (
                String(address).includes("coverage") ? window.answers.shift() : original(address, options));
            """)
        for text in ["The server answered 502.", "The answer of the server can't be read.", "Correct it."] {
            try press("coverage-run", editor)
            try editor.page.wait(until: "document.getElementById('coverage-state').textContent === \"\(text)\"")
        }
    }

    func testAVenueWithoutBeaconsAndWithoutAnInsideSaysSo() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/new-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let editor = try editor(at: folder)
        try simulateCoverage(editor)
        let notes = try editor.map.text(of: "#coverage-notes")
        XCTAssertTrue(notes.contains("The venue has no beacons yet."), notes)
        XCTAssertTrue(notes.contains("nothing says where the inside of the building is"), notes)
        XCTAssertEqual(
            try editor.page.evaluate("document.querySelectorAll('#proposals li').length", as: Int.self), 3)
        XCTAssertEqual(editor.problems, [])
    }

    // MARK: Walks

    func testAWalkOnTwoFloorsIsDrawnEditedUndoneAndKeptWhenThePageIsLoadedAgain() throws {
        let editor = try editor()
        let original = try editor.text
        try drawWalk(editor)
        XCTAssertEqual(try walk(editor).points.map(\.mapId), [1, 1, 1, 2, 2])
        XCTAssertFalse(try editor.state.isChanged, "the walk isn't part of the venue")
        XCTAssertEqual(try editor.state.steps, 2)
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(try walk(editor).points.count, 3)
        try editor.page.press(.character("Z"), holding: [.control, .shift])
        XCTAssertEqual(try walk(editor).points.count, 5)
        // Escape gives up a shape, and nothing else.
        try editor.click((16, 12))
        try editor.page.press(.escape)
        XCTAssertEqual(try walk(editor).points.count, 5)
        try editor.choose("select")
        try editor.drag(from: (16, 10), to: (18, 9.5))
        try editor.enter("6", into: "pause")
        let last = try XCTUnwrap(try walk(editor).points.last)
        XCTAssertEqual(last.x, 18, accuracy: 0.05)
        XCTAssertEqual(last.y, 9.5, accuracy: 0.05)
        XCTAssertEqual(last.pause, 6)
        // A new point follows the selected one.
        try editor.click((27, 10))
        XCTAssertEqual(try editor.state.selected, "walk 3")
        try editor.choose("walk")
        try editor.click((22, 10))
        try editor.page.press(.enter)
        XCTAssertEqual(try walk(editor).points[4].x, 22, accuracy: 0.05)
        try editor.page.press(.delete)
        XCTAssertEqual(try walk(editor).points.count, 5)
        XCTAssertEqual(try editor.text, original, "nothing is written")
        try editor.page.open(try editor.page.evaluate("location.href"))
        try editor.page.wait(until: "window.venueEditor?.walk().points.length === 5")
        XCTAssertEqual(try walk(editor).points.last?.pause, 6)
        XCTAssertFalse(try editor.state.isChanged)
        XCTAssertEqual(editor.problems, [])
    }

    func testASimulatedWalkShowsTheFiguresOfTheCommands() throws {
        let editor = try editor()
        try drawWalk(editor)
        try enter("7", into: "walk-seed", editor)
        try simulateWalk(editor)
        let folder = FileManager.default.temporaryDirectory.path + "/walk-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: editor.folder, toPath: folder)
        for name in ["survey", "tracks"] { try FileManager.default.removeItem(atPath: folder + "/" + name) }
        try FileManager.default.createDirectory(atPath: folder + "/tracks", withIntermediateDirectories: true)
        let path = folder + "/walk.json"
        let text: String = try editor.page.evaluate("JSON.stringify(window.venueEditor.walk())")
        try Data(text.utf8).write(to: URL(filePath: path))
        XCTAssertEqual(
            try ToolProcess([
                "simulate", "--venue", folder, "--path", path, "--seed", "7", "-o", folder + "/tracks/walk.jsonl",
            ]).end(), 0)
        let line = try ToolProcess(["evaluate", folder, "--json"]).firstLine()
        let evaluated = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let expected = try XCTUnwrap(evaluated)
        func metres(_ name: String) throws -> String {
            String(format: "%.2f m", try XCTUnwrap(expected[name] as? Double, name))
        }
        let shown = try figures(editor)
        XCTAssertEqual(shown["Mean error"], try metres("mean"))
        XCTAssertEqual(shown["Median error"], try metres("median"))
        XCTAssertEqual(shown["90 % of the errors"], try metres("p90"))
        XCTAssertEqual(
            shown["Within the radius"],
            "\(Int((try XCTUnwrap(expected["insideRadius"] as? Double) * 100).rounded())) %")
        XCTAssertTrue(try XCTUnwrap(shown["Duration"]).hasSuffix("seed 7"))
        // Another seed is another walk; another place makes the result old.
        try enter("8", into: "walk-seed", editor)
        try simulateWalk(editor)
        XCTAssertNotEqual(try figures(editor)["Mean error"], shown["Mean error"])
        try editor.choose("select")
        try editor.drag(from: (16, 10), to: (18, 9.5))
        XCTAssertFalse(try isHidden("walk-old", editor))
        try enter("x", into: "walk-seed", editor)
        try press("walk-run", editor)
        XCTAssertTrue(try editor.map.text(of: "#walk-seed-invalid").hasPrefix("Give a whole number from 0"))
        XCTAssertEqual(editor.problems, [])
    }

    func testAWalkIsExportedRemovedAndOpenedAgain() throws {
        let editor = try editor()
        try editor.page.run(
            """
            window.exported = null;
            const original = URL.createObjectURL;
            // The plan's images, which can arrive later, are blobs as well.
            URL.createObjectURL = (blob) => {
                if (blob.type === "application/json") blob.text().then((text) => { window.exported = text; });
                return original(blob);
            };
            """)
        try drawWalk(editor)
        try press("walk-export", editor)
        try editor.page.wait(until: "window.exported !== null")
        let text: String = try editor.page.evaluate("window.exported")
        XCTAssertNoThrow(try WalkScript(json: text.utf8), "as the command reads it")
        try press("walk-remove", editor)
        XCTAssertEqual(try walk(editor).points.count, 0)
        func open(_ content: String) throws {
            try editor.page.run(
                """
                const files = new DataTransfer();
                const bytes = Uint8Array.from(atob("\(Data(content.utf8).base64EncodedString())"), (one) => one.charCodeAt(0));
                files.items.add(new File([bytes], "walk.json"));
                const input = document.getElementById("walk-file");
                input.files = files.files;
                input.dispatchEvent(new Event("change"));
                """)
        }
        try open("{}")
        try editor.page.wait(until: "document.getElementById('notice').textContent.includes('The file isn\\'t a walk')")
        try open(text.replacing("\"mapId\":2", with: "\"mapId\":9"))
        try editor.page.wait(until: "document.getElementById('notice').textContent.includes('no floor with the id 9')")
        try open(text)
        try editor.page.wait(until: "window.venueEditor.walk().points.length === 5")
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(try walk(editor).points.count, 0)
        XCTAssertEqual(editor.problems, [])
    }

    func testSavingTheVenueWritesNothingOfTheWalk() throws {
        let editor = try editor()
        let lines = try editor.text.components(separatedBy: "\n").count
        try drawWalk(editor)
        try editor.choose("beacon")
        try editor.click((20, 5))
        try editor.save()
        XCTAssertEqual(try editor.text.components(separatedBy: "\n").count, lines + 1)
        XCTAssertEqual(try walk(editor).points.count, 5)
        try editor.page.run("document.getElementById('walk-remove').click()")
        XCTAssertFalse(try editor.state.isChanged)
    }

    func testARemovedWalkEndsItsSimulation() throws {
        let editor = try editor()
        try drawWalk(editor)
        try watchSimulations(editor)
        XCTAssertEqual(
            try ended(editor, "press('walk-run'); press('walk-remove')", button: "walk-run"),
            ["true", "Simulate walk"])
        XCTAssertTrue(try isHidden("walk-result", editor))
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(
            try ended(editor, "window.signals = []; press('walk-run'); enter('walk-seed', '3')", button: "walk-run"),
            ["true", "false", "Stop"])
        try editor.page.wait(until: "!document.getElementById('walk-result').hidden")
        XCTAssertTrue(try XCTUnwrap(try figures(editor)["Duration"]).hasSuffix("seed 3"))
    }

    func testTheMessageOfAnInvalidSpeedGoesWithItsText() throws {
        let editor = try editor()
        try enter("x", into: "walk-speed", editor)
        XCTAssertEqual(try editor.map.text(of: "#walk-speed-invalid"), "Give a number from 0.1 to 10.")
        try editor.click((16, 7.5))
        XCTAssertEqual(try editor.page.evaluate("document.getElementById('walk-speed').value"), "1.2")
        XCTAssertTrue(try isHidden("walk-speed-invalid", editor))
    }

    func testPointsOnLostFloorsAreLeftOutWhenThePageOrTheVenueIsLoadedAgain() throws {
        let editor = try editor()
        try drawWalk(editor)
        // As the tab keeps a walk on a floor that wasn't saved.
        try editor.page.run(
            """
            const key = Object.keys(sessionStorage).find((one) => one.includes("walk"));
            sessionStorage.setItem(key, sessionStorage.getItem(key).replace('"mapId":2', '"mapId":9'));
            """)
        try editor.page.open(try editor.page.evaluate("location.href"))
        try editor.page.wait(until: "window.venueEditor?.walk().points.length === 4")
        XCTAssertEqual(try walk(editor).points.map(\.mapId), [1, 1, 1, 2])
        // Another program has replaced the floor.
        let object = try JSONSerialization.jsonObject(with: Data(editor.text.utf8))
        var document = try XCTUnwrap(object as? [String: Any])
        var maps = try XCTUnwrap(document["maps"] as? [[String: Any]])
        maps[1]["id"] = 12
        document["maps"] = maps
        try JSONSerialization.data(withJSONObject: document).write(to: URL(filePath: editor.file))
        try editor.drag(from: (16, 7.5), to: (12, 4))
        try editor.page.press(.character("s"), holding: .control)
        try editor.page.wait(until: "document.getElementById('conflict').open")
        try press("reload", editor)
        try editor.page.wait(until: "!document.getElementById('conflict').open")
        XCTAssertEqual(try walk(editor).points.map(\.mapId), [1, 1, 1])
    }

    func testPointsOfTheWalkGoWithTheirFloor() throws {
        let editor = try editor()
        try drawWalk(editor)
        try press("floor-remove", editor)
        try press("removal-confirm", editor)
        XCTAssertEqual(try walk(editor).points.map(\.mapId), [1, 1, 1])
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(try walk(editor).points.map(\.mapId), [1, 1, 1, 2, 2])
    }

    // MARK: Layout

    func testTheResultsFitEachScreenAndAreLegible() throws {
        let editor = try editor(isTouch: true)
        try drawWalk(editor)
        try simulateCoverage(editor)
        try simulateWalk(editor)
        try assertFitsAndIsLegible(editor)
        for control in try editor.page.spokenControls() { XCTAssertNotEqual(control.name, "", control.role) }
    }
}
