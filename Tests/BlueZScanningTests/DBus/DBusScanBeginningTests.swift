import BlueZScanning
import IndoorLocalization
import XCTest

/// The start of a scan, from the connection to the bus to the first report, and its errors.
final class DBusScanBeginningTests: XCTestCase {
    private let path = DBusStage.adapterPath

    func testTheScanListsTheServicesObjectsOnceConnected() throws {
        var stage = DBusStage()
        stage.happen(.connected)
        XCTAssertEqual(stage.call, .listObjects)
        guard case .send(let message) = try XCTUnwrap(stage.directives.first) else {
            return XCTFail("no message is sent")
        }
        XCTAssertEqual(message.member, "GetManagedObjects")
        XCTAssertEqual(message.destination, "org.bluez")
        XCTAssertEqual(message.path, "/")
        XCTAssertTrue(message.expectsReply)
    }

    func testAPoweredAdapterScansAfterFilterAndStart() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        XCTAssertEqual(stage.statuses, [])
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
        XCTAssertEqual(stage.events.first?.adapter, "hci0")
        XCTAssertNil(stage.call)
    }

    func testTheFilterAsksForLowEnergyAndForDuplicates() {
        let message = BlueZCall.setFilter(adapter: path, duplicates: true).message(serial: 9)
        XCTAssertEqual(
            message.body,
            [.properties(["Transport": .string("le"), "DuplicateData": .boolean(true)])])
        XCTAssertEqual(message.body.first?.typeSignature, "a{sv}")
    }

    func testAMonitorIsRegisteredBeforeDiscoveryWhereItIsSupported() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        XCTAssertEqual(stage.call, .registerMonitor(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        XCTAssertEqual(stage.machine.memory.monitor, .registered)
    }

    func testDiscoveryStartsAfterARefusedMonitor() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        XCTAssertEqual(stage.machine.memory.monitor, .refused)
    }

    // MARK: - Power

    func testAnAdapterThatIsOffWhenFoundIsPoweredOnAndOffAgainAtTheEnd() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
        stage.answer()
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
        stage.happen(.stop)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .setPower(adapter: path, false))
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
    }

    func testTheSignalOfPowerMayComeBeforeTheAnswer() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
    }

    func testTheScanWaitsUntilARadioSwitchReleasesTheAdapter() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false, state: "off-blocked")])])
        XCTAssertEqual(stage.statuses, [.blocked])
        XCTAssertNil(stage.call)
        stage.adapterChanges(["PowerState": .string("off")])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
    }

    func testPowerRefusedByARadioSwitchIsReportedAsBlockedAndRetriedWithGrowingPauses() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        var pauses: [Duration] = []
        for attempt in 1...7 {
            stage.refuse("org.bluez.Error.Blocked")
            XCTAssertEqual(stage.statuses, attempt == 1 ? [.blocked] : [], "attempt \(attempt)")
            guard let due = stage.machine.dueTime else { return XCTFail("attempt \(attempt) is the last") }
            pauses.append(stage.now.duration(to: due))
            stage.wait(stage.now.duration(to: due))
            XCTAssertEqual(stage.call, .setPower(adapter: path, true), "attempt \(attempt)")
        }
        XCTAssertEqual(pauses, [1, 2, 4, 8, 16, 30, 30].map(Duration.seconds))
    }

    func testAServiceThatIsPoweringTheAdapterIsNotARefusal() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        stage.refuse("org.bluez.Error.Busy")
        XCTAssertEqual(stage.statuses, [])
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
    }

    // MARK: - Which adapter

    func testTheFirstAdapterIsTheOneWithTheLowestNumber() {
        var stage = DBusStage()
        stage.happen(.connected)
        let names = ["hci10", "hci2", "hci9"]
        let objects = names.map { ("/org/bluez/\($0)", DBusStage.adapter()) }
        stage.answer([DBusStage.objects(Dictionary(uniqueKeysWithValues: objects))])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci2", duplicates: true))
    }

    func testAnAdapterIsFoundByItsAddressUnderAnyName() throws {
        let address = try XCTUnwrap(DeviceAddress("AA:BB:CC:DD:EE:FF"))
        var stage = DBusStage(adapter: .address(address))
        stage.happen(.connected)
        stage.answer([
            DBusStage.objects([
                path: DBusStage.adapter(), "/org/bluez/hci5": DBusStage.adapter(address: "AA:BB:CC:DD:EE:FF"),
            ])
        ])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci5", duplicates: true))
    }

    func testAMissingAdapterIsReportedAfterTheServicesTimeToAddIt() {
        var stage = DBusStage(adapter: .named("hci3"))
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        XCTAssertEqual(stage.statuses, [])
        stage.wait(BlueZScanSettings.adapterTimeout)
        XCTAssertEqual(stage.statuses, [.unplugged])
        XCTAssertNil(stage.machine.dueTime)
    }

    // MARK: - Errors

    func testAMissingBusAtTheStartIsAnError() {
        var stage = DBusStage()
        stage.happen(.connectionFailed(reason: "no such socket", isDenied: false))
        XCTAssertEqual(stage.directives, [.fail(.busUnavailable(reason: "no such socket")), .close])
        XCTAssertEqual(stage.machine.state, .ended)
    }

    func testABusThatDeniesTheConnectionIsAnError() {
        var stage = DBusStage()
        stage.happen(.connectionFailed(reason: "access denied", isDenied: true))
        XCTAssertEqual(stage.directives, [.fail(.busForbidden(reason: "access denied")), .close])
    }

    func testADeniedCallIsAnErrorWithTheReasonOfTheBus() {
        let name = "org.freedesktop.DBus.Error.AccessDenied"
        for answers in 0...2 {
            var stage = DBusStage()
            stage.happen(.connected)
            if answers > 0 { stage.answer([DBusStage.objects([path: DBusStage.adapter()])]) }
            if answers > 1 { stage.answer() }
            stage.refuse(name)
            XCTAssertEqual(
                stage.directives, [.fail(.busForbidden(reason: "refused by the test (\(name))")), .close],
                "after \(answers) answers")
        }
    }

    func testAMissingServiceIsReportedAndTheScanWaitsForItsName() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.refuse("org.freedesktop.DBus.Error.ServiceUnknown")
        XCTAssertEqual(stage.statuses, [.serviceLost])
        XCTAssertEqual(stage.machine.state, .resting(until: nil))
        stage.ownerChanges(to: DBusStage.owner)
        XCTAssertEqual(stage.call, .listObjects)
    }

    func testAServiceThatDoesNotAnswerIsAskedAgain() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.wait(BlueZScanSettings.longTimeout)
        XCTAssertEqual(stage.statuses, [.serviceLost])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .listObjects)
    }

    func testALateAnswerIsIgnored() throws {
        var stage = DBusStage()
        stage.happen(.connected)
        let late = try XCTUnwrap(stage.pending)
        stage.wait(BlueZScanSettings.longTimeout)
        let before = stage.machine
        var message = BusMessage(kind: .methodReturn)
        message.replySerial = late.serial
        stage.happen(.received(message))
        XCTAssertEqual(stage.directives, [])
        XCTAssertEqual(stage.machine, before)
    }
}
